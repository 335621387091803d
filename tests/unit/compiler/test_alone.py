"""An action that no flow uses is checked as fully as one that a flow uses."""

from pathlib import Path

import pytest

from streamhouse.compiler.alone import action_errors
from streamhouse.errors import StreamhouseError
from streamhouse.project.check import check_project
from streamhouse.project.project import Project
from streamhouse.registry.read_action import read_action


def errors(
    sql: str, more: str = "", inputs: str = "{r: {id: bigint, k: string, items: 'array<struct<sku:string>>'}}"
) -> list[str]:
    header = f"/* ---\naction: a\nstep: clean\ninputs: {inputs}\n{more}--- */\n"
    wrong, meanings = action_errors(read_action(header + sql, "actions/a.sql").action, {})
    return [str(error) for error in (*wrong, *meanings)]


@pytest.mark.parametrize(
    ("sql", "more", "told"),
    [
        ("SELECT idd FROM r", "", "SH202 unknown column 'idd'"),
        ("SELECT id + items AS x FROM r", "", "SH203 there is no arithmetic"),
        ("SELECT nope(id) AS x FROM r", "", "SH210 unknown function 'nope'"),
        ("SELECT id, rand() AS x FROM r", "", "SH211 rand() gives another answer each time"),
        ("SELECT id, upper(k) FROM r", "", "SH215 output column 2 has no name"),
        ("SELECT id FROM r", "output: {primary_key: [idd]}\n", "SH202 primary_key names 'idd'"),
        ("SELECT id FROM r", "output: {event_time: at}\n", "SH202 event_time names 'at'"),
        ("SELECT id FROM r", "output: {renamed: {nope: old}}\n", "SH202 renamed names 'nope'"),
        ("SELECT id FROM r", "expect: {good: {check: k > 1}}\n", "expect.good"),
        ("SELECT id FROM r", "expect: {good: {check: id + 1}}\n", "expect.good: 'id + 1' is bigint"),
        ("SELECT id FROM r", "measures: {total: {sql: SUM(nope)}}\n", "measures.total"),
        ("SELECT id FROM r", "columns: {nope: none of it}\n", "nope"),
        ("SELECT id FROM r WHERE k > :least", "params: {least: {type: 'array<string>'}}\n", "SH203"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(sql: str, more: str, told: str) -> None:
    found = errors(sql, more)
    assert any(told in error for error in found), found


@pytest.mark.parametrize(
    ("sql", "more"),
    [
        ("SELECT id, i.sku FROM r LATERAL VIEW inline(items) i WHERE id > :low", "params: {low: {type: bigint}}\n"),
        ("SELECT id FROM r WHERE k = :word", "params: {word: {type: string, required: true}}\n"),
        ("SELECT id FROM r WHERE k IN (SELECT col FROM explode(:words))", "params: {words: {type: 'array<string>'}}\n"),
    ],
)  # fmt: skip
def test_what_is_right_is_taken(sql: str, more: str) -> None:
    assert errors(sql, more) == []


def test_an_input_of_any_columns_leaves_the_names_open() -> None:
    assert errors("SELECT *, nope FROM r", inputs="{r: {}}") == []
    assert "unknown function 'nope'" in errors("SELECT nope(a) AS b FROM r", inputs="{r: {}}")[0]


def test_the_check_of_a_project_finds_it(tmp_path: Path) -> None:
    (tmp_path / "actions").mkdir()
    (tmp_path / "actions" / "a.sql").write_text(
        "/* ---\naction: a\nstep: clean\ninputs: {r: {id: bigint}}\n--- */\nSELECT id, upper(idd) AS u FROM r\n"
    )
    (tmp_path / "streamhouse.yaml").write_text("")
    checked = check_project(Project.at(tmp_path))
    assert [str(error).partition(" |")[0].splitlines()[0] for error in checked.errors] == [
        "actions/a.sql:6:18: SH202 unknown column 'idd'"
    ]


@pytest.mark.parametrize("inputs", ["{r: {}}", "{r: {id: bigint, k: string}}"])
@pytest.mark.parametrize(
    "more",
    [
        """expect: {sly: {check: "reflect('java.lang.System', 'getenv', 'X') = k"}}\n""",
        """expect: {sly: {check: "k = upper(java_method('java.lang.System', 'getenv', 'X'))"}}\n""",
        """expect: {sly: {check: "input_file_name() = k"}}\n""",
        """expect: {sly: {check: "id IN (SELECT value FROM text.`/etc/passwd`)"}}\n""",
        """expect: {sly: {check: "rand() > 0"}}\n""",
        """expect: {sly: {check: "own_function(k)"}}\n""",
        """expect: {sly: {check: "a.b.own_function(k) = 1"}}\n""",
        """measures: {sly: "max(try_reflect('java.lang.System', 'getenv', 'X'))"}\n""",
        """measures: {sly: "sum(id) FILTER (WHERE reflect('a', 'b') = 'c')"}\n""",
        """measures: {sly: "(SELECT max(value) FROM text.`/etc/passwd`)"}\n""",
    ],
)
def test_expectations_and_measures_call_only_what_a_flow_may_call(more: str, inputs: str) -> None:
    assert any("sly" in error or "SH104" in error for error in refused("SELECT id, k FROM r", more, inputs))


def refused(sql: str, more: str, inputs: str) -> list[str]:
    try:
        return errors(sql, more, inputs)
    except StreamhouseError as error:
        return [str(error)]
