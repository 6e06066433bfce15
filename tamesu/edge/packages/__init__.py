"""Packages as bytes and files."""
