"""Frozen values that cross the borders between functions; what people author, what is planned, what happened."""
