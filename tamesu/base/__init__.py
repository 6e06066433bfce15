"""The lowest layer: values, the one hasher, the tree of errors."""
