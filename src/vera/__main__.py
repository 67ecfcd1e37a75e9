"""`python -m vera` is the `vera` command."""

from vera.cli import main

if __name__ == "__main__":
    main(prog_name="vera")
