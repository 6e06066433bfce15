"""The command line: one function per command, exit codes, tables on the terminal."""
