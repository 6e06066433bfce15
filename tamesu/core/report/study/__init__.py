"""The page of a case: from question to single outputs, made from evidence alone."""
