"""Whatever is edited: only its lines change, the document differs in that value alone, comments stay."""

from itertools import takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import FileFormatError
from streamhouse.registry.yaml_edits import with_added, with_item, with_value
from streamhouse.registry.yaml_nodes import read_yaml

FILE = "flows/a.yaml"
WORDS = st.text("abcxyzäß", min_size=1, max_size=5)
ALLOWED = st.characters(codec="utf-8", exclude_characters="\0\ufffe\uffff")  # the others no file may have
VALUES = st.one_of(
    st.integers(-5, 500).map(str), WORDS, st.just("'it''s # no comment'"), st.just('"a: b"'), st.just("[1, {a: 2}]"),
    st.just("{b: [x, y]}"), st.just("{}"), st.just("\n  deep: 1 # two\n  more:\n    - x"),
    st.just(" |\n  text\n  # of a block"),
    st.just(">-\n  folded\n\n  text\n"), st.just(""), st.just("{ long: 1,\n  two: [a,\n    b, ] }"),
)  # fmt: skip
COMMENTS = st.sampled_from(["", "  # why", "\n# a line of its own", "\n\n", "\n  # indented"])
ITEM = st.sampled_from(
    ["- x", "- {use: a}", "- use: a\n  reads: {b: c}", "- >-\n  folded\n  text", "- [1, 2]", "- |\n  t\n"]
)
ITEMS = st.lists(ITEM, min_size=1, max_size=3)
NEW = st.recursive(
    st.one_of(st.integers(), st.booleans(), st.none(), st.text(ALLOWED, max_size=8)),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(ALLOWED, min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def documents(draw):
    """A text, with lines that end in either way, with or without the mark and the last break."""
    lines = draw(st.dictionaries(WORDS, st.tuples(VALUES, COMMENTS), min_size=1, max_size=5))
    text = "".join(
        f"{key}: {value}{comment if not value.startswith((' |', '>')) else ''}\n"
        for key, (value, comment) in lines.items()
    )
    steps = draw(st.sampled_from(["", "  "])) + "\n".join(draw(ITEMS))
    indent = steps[: len(steps) - len(steps.lstrip())]
    text += f"steps:{draw(st.sampled_from(['', ' # these']))}\n{steps.replace(chr(10), chr(10) + indent)}\n"
    text += draw(st.sampled_from(["", "# the end\n", "\nowner: me  # last\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    ends_a_text = text.rstrip().endswith(" t")  # whose last break a line behind it would add
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return mark + (text if ends_a_text or draw(st.booleans()) else text.rstrip("\r\n"))


def comments(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("#")]


def data(text):
    return read_yaml(text.removeprefix("\ufeff"), FILE).data


def assert_only_inserted(before, after):
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    rest = before[same:]
    assert after.endswith(rest) or after.rstrip("\r\n").endswith(rest), (before, after)
    assert comments(after) == comments(before)


@given(documents(), st.dictionaries(WORDS, NEW, min_size=1, max_size=3))
def test_an_item_is_added_and_nothing_else(text, new):
    before = data(text)
    after = with_item(text, "steps", new, FILE)
    assert data(after) == {**before, "steps": [*before["steps"], new]}
    assert_only_inserted(text, after)


@given(documents(), st.dictionaries(WORDS.map(lambda word: f"n{word}"), NEW, min_size=1, max_size=3), st.booleans())
def test_keys_are_added_and_nothing_else(text, new, deep):
    before = data(text)
    below = next((key for key, value in before.items() if isinstance(value, dict) and value), None) if deep else None
    after = with_added(text, {below: new} if below else new, file=FILE)
    if below is None:
        assert data(after) == {**new, **before}
    else:
        assert data(after) == {**before, below: {**new, **before[below]}}
    assert comments(after) == comments(text)
    rest = iter(after)
    assert all(char in rest for char in text), "every character stands where it stood"


@given(documents(), st.one_of(st.integers(), WORDS))
def test_a_value_is_set_and_nothing_else(text, value):
    before = data(text)
    key = next((key for key in before if not isinstance(before[key], dict | list)), "new")
    after = with_value(text, (key,), value, FILE)
    assert data(after) == {**before, key: value}
    was = comments(str(before.get(key)))  # a line of a text that looks like a comment goes with the text
    assert sorted(comments(after) + was) == sorted(comments(text))


@pytest.mark.parametrize("text", ["flow: a\n", "flow: a\nsteps: []\n", "flow: a\nsteps: {a: b}\n", "- a\n"])
def test_a_list_that_cannot_be_added_to(text):
    with pytest.raises(FileFormatError):
        with_item(text, "steps", {"use": "a"}, FILE)


def test_an_item_that_stands_elsewhere_is_refused_rather_than_split():
    text = "one: &a {use: x}\nsteps:\n  - *a\n"
    with pytest.raises(FileFormatError, match="cannot be set"):
        with_item(text, "steps", {"use": "b"}, FILE)


def test_a_text_that_the_file_ends_within_is_not_changed():
    with pytest.raises(FileFormatError, match="cannot be set"):
        with_added("a: 1\nsteps:\n- |\n  t", {"b": 2}, file=FILE)
