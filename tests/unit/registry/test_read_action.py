"""An action file that is sound: values, places, notices."""

import pytest

from streamhouse.errors import DefinitionErrors, Location, PortError, UnknownTableError
from streamhouse.registry.problems import flat
from streamhouse.registry.read_action import name_in, read_action

HEADER = """\
action: clean
step: clean
inputs:
  lines: {id: LONG, amount: "Decimal(12, 2)", seen: timestamp, tags: array<String>}
"""


def action_file(sql: str, header: str = HEADER) -> str:
    return f"/* ---\n{header}--- */\n{sql}\n"


def test_types_are_canonical() -> None:
    action = read_action(action_file("SELECT id FROM lines"), "a.sql").action
    assert action.inputs["lines"] == {
        "id": "bigint",
        "amount": "decimal(12,2)",
        "seen": "timestamp",
        "tags": "array<string>",
    }


def test_places() -> None:
    action = read_action(action_file("SELECT id FROM lines"), "a.sql").action
    assert action.at == Location("a.sql", 2, 9)
    assert action.sql_at == Location("a.sql", 7, 1)
    assert action.sql == "SELECT id FROM lines"


def test_inputs_may_take_any_columns() -> None:
    header = "action: as_is\nstep: ingest\ninputs: {rows: {}}\n"
    assert read_action(action_file("SELECT * FROM rows", header), "a.sql").action.inputs == {"rows": {}}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id FROM lines;",
        "SELECT id FROM LINES l",
        "WITH a AS (SELECT id FROM lines), b AS (SELECT * FROM a) SELECT * FROM b UNION ALL SELECT * FROM a",
        "SELECT id, tag FROM lines LATERAL VIEW explode(tags) t AS tag",
        "SELECT id FROM lines WHERE id IN (SELECT max(id) FROM lines)",
        "SELECT id FROM lines JOIN range(3) r ON r.id = lines.id",
        "(SELECT id FROM lines)",
        "SELECT id -- a; comment\nFROM lines /* {{ no template }} */ WHERE 'a;b{{' <> ''",
        "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY id) AS median FROM lines",
        "SELECT date_trunc('HOUR', seen) AS hour, element_at(tags, 1) AS tag FROM lines",
    ],
)
def test_spark_sql_is_taken_as_it_is(sql: str) -> None:
    assert read_action(action_file(sql), "a.sql").action.sql == sql


def test_a_parameter_used_in_a_condition_only_is_used() -> None:
    header = (
        HEADER
        + "params: {least: {type: int, default: 0}, most: {type: int}}\n"
        + "expect: {low: {check: 'id > :least'}}\n"
    )
    read = read_action(action_file("SELECT id FROM lines", header), "a.sql")
    assert [str(n).partition("\n")[0] for n in read.notices] == ["a.sql:6:42: note the parameter 'most' is never used"]


def test_a_mistyped_input_is_one_error_not_two() -> None:
    with pytest.raises(UnknownTableError):
        read_action(action_file("SELECT id FROM line"), "a.sql")


def test_an_input_that_is_not_read_is_an_error_at_its_declaration() -> None:
    with pytest.raises(PortError) as refused:
        read_action(action_file("SELECT id FROM lines", HEADER + "  more: {id: int}\n"), "a.sql")
    assert refused.value.at == Location("a.sql", 6, 3)


def test_header_and_sql_errors_come_together_in_order() -> None:
    header = HEADER.replace("step: clean", "step: cleen").replace("LONG", "LOONG")
    with pytest.raises(DefinitionErrors) as refused:
        read_action(action_file("SELECT id, FROM lines", header), "a.sql")
    assert [e.at and (e.at.line, e.at.column) for e in refused.value.errors] == [(3, 7), (5, 15), (7, 10)]
    assert flat([refused.value]) == list(refused.value.errors)


def test_the_name_of_a_broken_file_is_told_where_it_can_be() -> None:
    assert name_in(action_file("SELECT", HEADER + "version: 2.0.0\n"), "f") == ("clean", "2.0.0")
    assert name_in("SELECT 1", "f") == (None, None)
