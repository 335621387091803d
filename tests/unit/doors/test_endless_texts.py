"""Texts that cost an endless time, or a fault, in an action: each is an error with its place."""

import pytest

from streamhouse.errors import Location, SqlSyntaxError, StreamhouseError
from streamhouse.model.table import Column
from streamhouse.registry.parse_sql import parse_check, parse_measure, parse_query
from streamhouse.registry.read_action import read_action
from streamhouse.sql.chains import MOST
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.schema import analyse

AT = Location("actions/a.sql", 6, 1)
ACTION = (
    "/* ---\naction: a\n{more}step: ingest\ninputs: {{rows: {{{columns}}}}}\n--- */\nSELECT {what} AS x FROM rows\n"
)


def refused(what="id", columns="id: int", more=""):
    with pytest.raises(StreamhouseError) as found:
        read_action(ACTION.format(what=what, columns=columns, more=more), "actions/a.sql")
    return str(found.value)


def analysed(sql):
    port = ActionPort((Column(name="id", type="int"),), {})
    return analyse(parse_query(sql, AT), {"rows": port}, sql, AT)


@pytest.mark.parametrize("link", ["AND", "OR"])
def test_a_chain_of_conditions_is_analysed_up_to_a_length(link):
    chain = f" {link} ".join(["id = 1"] * MOST)
    assert analysed(f"SELECT id FROM rows WHERE {chain}").columns
    with pytest.raises(SqlSyntaxError, match="more than 400 conditions are in one chain of AND and OR"):
        analysed(f"SELECT id FROM rows WHERE {chain} {link} id = 2")
    pairs = f" {link} ".join(["id = 1 AND id < 2" if link == "OR" else "(id = 1 OR id < 2)"] * MOST)
    assert analysed(f"SELECT id FROM rows WHERE {pairs}").columns


def test_a_long_chain_is_refused_before_the_analysis_that_takes_long():
    with pytest.raises(SqlSyntaxError, match="in one chain"):
        analysed("SELECT id FROM rows WHERE " + " OR ".join(["id = 1"] * 20_000))


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
