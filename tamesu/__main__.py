"""`python -m tamesu` is `tamesu`."""

from tamesu.cli.main import main

if __name__ == "__main__":
    main()
