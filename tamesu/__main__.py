"""`python -m tamesu` is `tamesu`."""

import sys

if not sys.flags.safe_path:
    # the folder that it is called in: a json.py there is no module of ours
    del sys.path[0]

from tamesu.cli.main import main

if __name__ == "__main__":
    main()
