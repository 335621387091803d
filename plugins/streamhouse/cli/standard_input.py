"""Text that a command reads from standard input."""

import sys

import click


def read_text() -> str:
    """All of standard input.

    Raises:
        UsageError: it is no text in UTF-8.
    """
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"standard input is no UTF-8 text: byte {error.start + 1} is no part of one") from error
