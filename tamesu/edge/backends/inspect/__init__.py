"""The Inspect AI backend: one Inspect evaluation per attempt. The only importer of inspect_ai."""
