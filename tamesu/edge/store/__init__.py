"""Where everything lies on disk, and how it is written so that a crash loses nothing."""
