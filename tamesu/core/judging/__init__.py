"""Model judges: what they are asked, how a reply becomes a verdict, what is owed and what it may cost."""
