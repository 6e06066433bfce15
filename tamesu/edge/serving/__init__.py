"""Serves pages to a browser on this machine."""
