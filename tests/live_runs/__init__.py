"""Runs over live routes: the provider's real client against a server on the loopback address that misbehaves."""
