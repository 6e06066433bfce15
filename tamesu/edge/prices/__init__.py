"""Prices of models: the kept library, read offline, and what a project says itself."""
