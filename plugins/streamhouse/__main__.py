"""`python -m streamhouse`: the `streamhouse` command where no script of that name is on the path."""

from streamhouse.cli.main import entry

if __name__ == "__main__":
    entry()
