"""Entry point of ``python -m archiver``."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        # Python puts the current directory first in sys.path, so a file there could shadow a
        # library.
        del sys.path[0]

    from archiver.cli.main import main

    main()
