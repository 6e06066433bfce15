"""Views of an evaluation: what a summary holds, and the Markdown and HTML made from it."""
