"""Review by people: blinded packs, the answers that come back, and where review stands."""
