"""YAML without its surprises, and with the place of each part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamhouse.errors import DefinitionErrors, FileFormatError, Location, StreamhouseError
from streamhouse.registry.problems import Problems
from streamhouse.registry.yaml_nodes import read_yaml


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("true", True), ("False", False), ("on", "on"), ("off", "off"), ("yes", "yes"), ("no", "no"), ("y", "y"),
        ("null", None), ("~", None), ("", None), ("2017-01-01", "2017-01-01"),
        ("2017-01-01 11:53:26", "2017-01-01 11:53:26"), ("1:30", "1:30"), ("12", 12), ("-3", -3), ("007", "007"),
        ("0", 0), ("0x1f", "0x1f"), ("1_000", "1_000"), ("3.50", 3.5), ("1e3", 1000.0), ("-1.5e-3", -0.0015),
        (".5", 0.5), ("1.2.3", "1.2.3"), ("1.0.0", "1.0.0"), ("30s", "30s"), (".", "."), ("'12'", "12"),
        (".inf", ".inf"), ("=", "="),
    ],
)  # fmt: skip
def test_scalars_mean_what_a_person_means(written: str, meant: object) -> None:
    value = read_yaml(f"a: {written}", "f").data["a"]
    assert value == meant
    assert type(value) is type(meant)


def test_keys_on_and_off_stay_text() -> None:
    assert read_yaml("on: 1\noff: 2\nyes: 3\nno: 4", "f").data == {"on": 1, "off": 2, "yes": 3, "no": 4}


def test_places_count_from_one_and_from_the_first_line() -> None:
    document = read_yaml("a:\n  - {b: 1, c: [x, é, y]}\n", "f", first_line=10)
    assert document.value_at(("a", 0, "b")) == Location("f", 11, 9)
    assert document.key_at(("a", 0, "c")) == Location("f", 11, 12)
    assert document.value_at(("a", 0, "c", 2)) == Location("f", 11, 22)
    assert document.best_at(("a", 0)) == Location("f", 11, 5)


def test_what_is_not_written_is_placed_at_its_nearest_parent() -> None:
    document = read_yaml("a: {b: 1}", "f")
    assert document.value_at(("a", "z", 3)) == Location("f", 1, 4)
    assert document.best_at(("a", "z")) == Location("f", 1, 4)
    assert document.best_at(("a",)) == Location("f", 1, 1)


def test_aliases_give_the_same_data_in_both_places() -> None:
    assert read_yaml("a: &x {k: 1}\nb: *x", "f").data == {"a": {"k": 1}, "b": {"k": 1}}


def test_every_second_key_is_reported() -> None:
    with pytest.raises(DefinitionErrors) as refused:
        read_yaml("a: 1\na: 2\nb: {c: 1, c: 2}", "f")
    assert [e.at for e in refused.value.errors] == [Location("f", 2, 1), Location("f", 3, 11)]


@pytest.mark.parametrize("text", ["[" * 150 + "]" * 150, "[" * 300_000, "- " * 300_000, "{a: " * 300_000])
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(FileFormatError, match="deep"):
        read_yaml(text, "f")


def test_multiplying_aliases_are_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]
    with pytest.raises(FileFormatError, match="aliases"):
        read_yaml("\n".join(lines), "f")


@given(st.text(alphabet="ab:-[]{}'\"*&!#|>%@`,?~ \n\t\\0\x00\x07é😀", max_size=40))
def test_any_text_gives_data_or_an_error_of_ours(text: str) -> None:
    try:
        document = read_yaml(text, "f")
    except StreamhouseError as error:
        places = [e.at for e in error.errors] if isinstance(error, DefinitionErrors) else [error.at]
        assert all(places)
    else:
        assert document.values[()]


@pytest.mark.parametrize("odd", [r"\0", r"\x00", r"\u0000", r"\uFFFF"])
@pytest.mark.parametrize("text", ['a: "x{}"\nb: 1', '"a{}": 1\nb: 1', 'a: ["{}"]\nb: 1', '? "{}"\n: 1'])
def test_characters_that_no_file_has_are_refused_at_their_place(text: str, odd: str) -> None:
    written = text.replace("{}", odd)
    with pytest.raises(StreamhouseError, match=r"f:1:\d+: SH101 the character U\+[0-9A-F]{4} is not allowed"):
        read_yaml(written, "f")
    problems = Problems()
    data = read_yaml(written, "f", problems=problems).data
    assert len(problems.errors) == 1
    assert "\ufffd" in str(data)
    assert "\0" not in str(data)
