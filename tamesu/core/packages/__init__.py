"""Packages: what of a case is published, in which bytes, and by which digest it is known."""
