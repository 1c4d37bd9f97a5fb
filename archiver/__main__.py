"""``python -m archiver``: the command line."""

from archiver.cli.main import main

if __name__ == "__main__":
    main()
