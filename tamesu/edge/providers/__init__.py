"""Models behind their providers' real clients: made, observed, probed, asked call by call, or replayed."""
