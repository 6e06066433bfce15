"""One module per arrow of the pipeline: read, call the core, write."""
