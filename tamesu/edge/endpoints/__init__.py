"""What an endpoint says about itself before a run: its models, its version, the load of its engine."""
