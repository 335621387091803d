"""A message that quotes a very long text is cut where it is quoted, whichever error it is."""

import pickle

import pytest

from streamhouse.errors import DefinitionErrors, StreamhouseError, UnknownActionError
from streamhouse.errors.base import shortened

PROSE = "a word and " * 60


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"unknown column '{'a' * 9_000}' here", f"unknown column '{'a' * 300}… (9,000 characters)' here"),
        (f"'{PROSE}' is no date", f"'{PROSE[:300]}… (660 characters)' is no date"),
        ("x" * 501, f"{'x' * 300}… (501 characters)"),
        ("x" * 500, "x" * 500),
        (f"'a' and {PROSE}and 'b'", f"'a' and {PROSE}and 'b'"),
        (f"first\n{'a b ' * 2_000}\nlast", f"first\n{('a b ' * 750)}… (8,000 characters)\nlast"),
    ],
)
def test_long_texts_are_cut(text, shown):
    assert shortened(text) == shown
    assert shortened(shown) == shown, "an error may pass through several hands"


def test_every_error_cuts_what_it_quotes():
    name = "n" * 100_000
    error = UnknownActionError(name, [])
    every = DefinitionErrors([error, StreamhouseError("short", hint=f"not '{name}'")])
    for one in (error, every, pickle.loads(pickle.dumps(every))):
        assert len(str(one)) < 2_000
