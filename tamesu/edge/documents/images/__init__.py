"""Container images that the executed sources name: compose files and Dockerfiles resolved without any engine."""
