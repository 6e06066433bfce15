"""Mechanical checks that Tamesu makes itself, of text and of pictures: pure functions of what a model returned."""
