"""Tamesu's own loop: one model call per item, over the same providers as the Inspect backend."""
