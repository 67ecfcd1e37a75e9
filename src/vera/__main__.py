"""`python -m vera` is the `vera` command."""

import sys


def run() -> None:
    """The command. Ctrl-C while it is loaded ends it as at any other time, with exit code 130."""
    try:
        from vera.cli import main

        main(prog_name="vera")
    except KeyboardInterrupt:
        sys.stderr.write("vera: interrupted.\n")
        sys.exit(130)


if __name__ == "__main__":
    run()
