"""Everything that touches the world: files, locks, Inspect."""
