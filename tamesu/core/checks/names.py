"""The names of the checks that Tamesu makes itself; everything else is a scorer of somebody."""

from __future__ import annotations

TEXT_CHECKS = ("valid_json", "schema_valid", "exact_match")
FIELD = "field:"  # begins the names of scores that are about one field of a structured text
DECODABLE = "decodable_image"
FORMAT_MATCH = "format_match"
PICTURE_CHECKS = (DECODABLE, "min_resolution", FORMAT_MATCH, "non_uniform", "has_transparency")

# Settings beside `pass_at` and `prerequisite`, which every check takes.
SETTINGS = {"min_resolution": ("width", "height"), FORMAT_MATCH: ("format",)}
PREREQUISITE = "prerequisite"  # an item that fails such a check is neither reviewed nor judged
