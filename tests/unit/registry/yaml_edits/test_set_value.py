"""Setting one key of a YAML text."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import StreamhouseError
from streamhouse.registry.yaml_edits import with_value
from streamhouse.registry.yaml_nodes import read_yaml

FILE = "flows/a.yaml"


@pytest.mark.parametrize(
    ("text", "path", "value", "wanted"),
    [
        ("flow: a\nfreshness: 1s   # soon\n", ("freshness",), "5s", "flow: a\nfreshness: 5s   # soon\n"),
        ("flow: a\nfreshness: '1s'\n", ("freshness",), "5s", "flow: a\nfreshness: 5s\n"),
        ("flow: a\nfreshness:\nsteps: []\n", ("freshness",), "5s", "flow: a\nfreshness: 5s\nsteps: []\n"),
        ("# mine\nflow: a # name\nsteps: []\n", ("n",), 5, "# mine\nflow: a # name\nn: 5\nsteps: []\n"),
        ("flow: a\r\nsteps: []\r\n", ("n",), 5, "flow: a\r\nn: 5\r\nsteps: []\r\n"),
        ("flow: a", ("n",), 5, "flow: a\nn: 5\n"),
        ("\ufeffflow: ä\nn: 1\n", ("n",), 5, "\ufeffflow: ä\nn: 5\n"),
        ("{flow: a, steps: []}\n", ("n",), 5, "{n: 5, flow: a, steps: []}\n"),
        ("steps:\n- a\nflow: b\n", ("n",), 5, "n: 5\nsteps:\n- a\nflow: b\n"),
        ("state: x\nautopilot: {mode: auto}\n", ("autopilot", "mode"), "off", "state: x\nautopilot: {mode: off}\n"),
        (
            "autopilot:\n  flows: [a]  # one\n",
            ("autopilot", "mode"),
            "off",
            "autopilot:\n  mode: off\n  flows: [a]  # one\n",
        ),
        ("state: x\n", ("autopilot", "mode"), "off", "state: x\nautopilot: {mode: off}\n"),
        ("a: 1\n", ("a",), "true", 'a: "true"\n'),
    ],
)
def test_one_key_is_set_and_all_else_stays(text, path, value, wanted):
    assert with_value(text, path, value, FILE) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "flow: a\nn: &x 1\nm: *x\n",  # another key means the same value
        "flow: a\nm: &x 1\nn: *x\n",
        "flow: a\nn: [1]\n",
        "flow: [\n",
        "- a\n",
    ],
)
def test_what_cannot_be_set_alone_is_refused(text):
    with pytest.raises(StreamhouseError):
        with_value(text, ("n",), 5, FILE)


WORDS = st.text("abcxyz", min_size=1, max_size=5)
VALUES = st.one_of(
    st.integers(-5, 500).map(str), WORDS, st.just("'it''s # no comment'"), st.just('"a: b"'), st.just("[1, {a: 2}]"),
    st.just("{b: [x, y]}"), st.just("\n  deep: 1 # two\n  more:\n    - x"), st.just(" |\n  text\n  # of a block"),
    st.just(">-\n  folded\n\n  text\n"), st.just(""),
)  # fmt: skip
COMMENTS = st.sampled_from(["", "  # why", "\n# a line of its own", "\n\n"])
LINES = st.dictionaries(WORDS, st.tuples(VALUES, COMMENTS), min_size=1, max_size=5)
ENDS = st.sampled_from(["\n", "\r\n"])


@given(LINES, st.integers(0, 9), st.one_of(st.integers(1, 10**9), st.sampled_from(["5s", "100ms", "1h"])), ENDS)
def test_only_that_key_differs(lines, which, value, end):
    text = "".join(
        f"{key}: {value}{comment if not value.startswith((' |', '>')) else ''}\n"
        for key, (value, comment) in lines.items()
    ).replace("\n", end)
    before = read_yaml(text, FILE).data
    key = [*before, "added"][which % (len(before) + 1)]
    try:
        new = with_value(text, (key,), value, FILE)
    except StreamhouseError:
        assert isinstance(before[key], dict | list), "a plain value, and a new key, can always be set"
        return
    assert read_yaml(new, FILE).data == {**before, key: value}
    assert [other for other in read_yaml(new, FILE).data if other != "added"] == list(before), "the order stays"
    for line in difflib.ndiff(text.splitlines(), new.splitlines()):
        if line.startswith(("-", "+")):
            assert key in line or _of_block(before.get(key), line), (line, text, new)


def _of_block(value, line):
    """Whether a line is one of a text over several lines, which is the value that was replaced."""
    return isinstance(value, str) and (line[1:].strip() in value or not line[1:].strip())
