"""Cutting an action file into header and SQL, with places that count in the whole file."""

import pytest

from streamhouse.errors import HeaderError, Location
from streamhouse.sql.header import place_in, split_header

FILE = """/* ---
action: a
step: clean
--- */
SELECT x
FROM t
"""


def test_parts_and_their_places() -> None:
    split = split_header(FILE, "a.sql")
    assert split.yaml == "action: a\nstep: clean\n"
    assert split.yaml_line == 2
    assert split.sql == "SELECT x\nFROM t"
    assert split.sql_at == Location("a.sql", 5, 1)


def test_comments_and_blank_lines_before_the_header_count() -> None:
    split = split_header("-- licence\n\n  " + FILE, "a.sql")
    assert split.yaml_line == 4
    assert split.sql_at == Location("a.sql", 7, 1)


def test_sql_may_begin_on_the_last_line_of_the_header() -> None:
    split = split_header("/* ---\na: 1\n--- */  SELECT 1", "a.sql")
    assert (split.sql, split.sql_at) == ("SELECT 1", Location("a.sql", 3, 9))


def test_later_comments_belong_to_the_sql() -> None:
    assert split_header(FILE + "/* --- no header --- */", "a.sql").sql.endswith("/* --- no header --- */")


def test_an_empty_header_has_no_lines() -> None:
    assert split_header("/* ---\n--- */\nSELECT 1", "a.sql").yaml == ""


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ("SELECT 1", 1, 1),
        ("/* no dashes */ SELECT 1", 1, 1),
        ("\n/* ---\na: 1\nSELECT 1", 2, 1),
        ("-- x\n/* ---\na: 1\n*/", 4, 1),
        ("/* ---\na: 'b */ c'\n--- */", 2, 7),
        ("/* --- a: 1\n--- */", 1, 8),
    ],
)
def test_a_wrong_header_is_refused_at_its_place(text: str, line: int, column: int) -> None:
    with pytest.raises(HeaderError) as refused:
        split_header(text, "a.sql")
    assert refused.value.at == Location("a.sql", line, column)


@pytest.mark.parametrize(
    ("offset", "place"), [(0, (3, 5)), (1, (3, 6)), (2, (3, 7)), (3, (4, 1)), (5, (5, 1)), (6, (5, 2))]
)
def test_place_in_counts_from_where_the_text_begins(offset: int, place: tuple[int, int]) -> None:
    found = place_in("ab\nc\nde", offset, Location("f", 3, 5))
    assert (found.line, found.column) == place
