"""Packages on disk: archives read piece by piece, and what is extracted from them."""
