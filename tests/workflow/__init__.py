"""The behaviour table: what Snakemake lists, what is asked, and what is paid, for every kind of change."""
