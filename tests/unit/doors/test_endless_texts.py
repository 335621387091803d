"""Texts that cost an endless time, or a fault, in an action: each is an error with its place."""

import pytest

from streamhouse.errors import Location, StreamhouseError
from streamhouse.registry.parse_sql import parse_check, parse_measure
from streamhouse.registry.read_action import read_action

AT = Location("actions/a.sql", 6, 1)
ACTION = (
    "/* ---\naction: a\n{more}step: ingest\ninputs: {{rows: {{{columns}}}}}\n--- */\nSELECT {what} AS x FROM rows\n"
)


def refused(what="id", columns="id: int", more=""):
    with pytest.raises(StreamhouseError) as found:
        read_action(ACTION.format(what=what, columns=columns, more=more), "actions/a.sql")
    return str(found.value)


@pytest.mark.parametrize("version", ["9" * 5000 + ".0.0", "1.0." + "9" * 10, "\u0661.0.0", "1.0.\u00b2"])
def test_a_version_is_of_few_digits(version):
    assert "actions/a.sql:3:10: SH101 " in refused(more=f'version: "{version}"\n')


@pytest.mark.parametrize("size", ["39,2", "99999999999999999999,2", "10,11", "5,-1"])
def test_a_decimal_of_a_header_is_one_of_spark(size):
    assert "actions/a.sql:4:" in refused(columns=f'id: "decimal({size})"')
    assert "actions/a.sql:4:" in refused(columns=f'id: "array<struct<a:decimal({size})>>"')
    params = f'params: {{p: {{type: "decimal({size})", default: 1, description: x}}}}\n'
    assert "actions/a.sql:3:" in refused(more=params)


@pytest.mark.parametrize("sign", ["\0", "\ufffe", "\uffff"])
@pytest.mark.parametrize("place", ["'{}'", "id -- {}\n", "id /* {} */", "`a{}`", "id{}", "'a\nb{}'"])
def test_a_character_that_is_no_text_is_refused_wherever_it_is(sign, place):
    code = f"SH104 the character U+{ord(sign):04X} is not allowed"
    line = 7 if "\nb" in place else 6
    assert any(
        text.startswith(f"actions/a.sql:{line}:") and code in text for text in refused(place.format(sign)).splitlines()
    )
    for parse in (parse_check, parse_measure):
        with pytest.raises(StreamhouseError):
            parse(f"max('{sign}') > 1", AT)
