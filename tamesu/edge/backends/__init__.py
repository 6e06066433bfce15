"""How outputs are produced; one folder per execution backend."""
