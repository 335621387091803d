"""What columns are made of is kept with the project: after an edit the steps behind it are not resolved again."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest

from streamhouse.project.cache import results
from streamhouse.project.check import check_project
from streamhouse.project.compare import compare_project
from streamhouse.project.project import Project
from streamhouse.sql import made_of as module

COLUMNS = "{id: bigint, dept: string, n: bigint}"
KEPT = "CAST(value AS TEXT) LIKE '%\"decides\"%'"
STEPS = {
    "first": "SELECT id, upper(dept) AS dept, n + 1 AS n FROM r WHERE n > 0",
    "second": "SELECT id, dept, n FROM r WHERE dept <> 'X'",
    "third": "SELECT id, coalesce(dept, '?') AS dept, n * 2 AS n FROM r",
    "fourth": "SELECT dept, sum(n) AS n FROM r GROUP BY dept",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A chain of steps that was applied."""
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "rows.csv").write_text("id,dept,n\n1,a,1\n")
    take = "/* ---\naction: take\nstep: ingest\ninputs: {r: {}}\n--- */\nSELECT * FROM r\n"
    (tmp_path / "actions" / "take.sql").write_text(take)
    steps, before = ["  - {use: take, reads: {r: rows}, writes: ods.t}"], "ods.t"
    for name, sql in STEPS.items():
        kind, columns = ("aggregate", "{dept: string, n: bigint}") if name == "fourth" else ("clean", COLUMNS)
        text = f"/* ---\naction: {name}\nstep: {kind}\ninputs: {{r: {columns}}}\n--- */\n{sql}\n"
        (tmp_path / "actions" / f"{name}.sql").write_text(text)
        table = f"{'dws' if name == 'fourth' else 'dwd'}.{name}"
        steps.append(f"  - {{use: {name}, reads: {{r: {before}}}, writes: {table}}}")
        before = table
    source = f"sources:\n  rows: {{files: {{path: data/rows.csv, columns: {COLUMNS}}}}}\n"
    (tmp_path / "flows" / "f.yaml").write_text("flow: f\n" + source + "steps:\n" + "\n".join(steps) + "\n")
    found = Project.at(tmp_path)
    plans = check_project(found).plans
    with found.state() as state:
        for plan in plans.values():
            state.save_plan(plan)
    return found


@contextmanager
def resolved(number: int) -> Iterator[None]:
    """So many queries are resolved again to know what their columns are made of."""
    with (
        patch.object(module, "_HERE", module.MadeOfHere()),
        patch.object(module, "_made_of_ports", wraps=module._made_of_ports) as again,
    ):
        yield
    assert again.call_count == number


def edit(project: Project, number: int) -> list[str]:
    """What an edit of the first step does, to this step and those behind it."""
    file = project.root / "actions" / "first.sql"
    file.write_text(file.read_text().replace("n + 1", f"n + {number}"))
    (found,) = compare_project(project)
    return [step.model_dump_json() for step in found.found.steps]


def database(project: Project) -> sqlite3.Connection:
    return sqlite3.connect(project.state_dir / "cache" / "plan" / "plan.db")


def test_an_edit_resolves_no_query_behind_it(project: Project) -> None:
    with resolved(0):
        found = edit(project, 2)
    assert sum("forward" in step or "rebuild" in step for step in found) > 2
    with database(project) as opened:
        opened.execute("DELETE FROM entry")
    (project.root / "actions" / "first.sql").touch()
    with resolved(0):  # compiled again, and kept by that
        assert edit(project, 2) == found


def test_what_is_damaged_is_found_again(project: Project) -> None:
    with resolved(0):
        found = edit(project, 2)
    with database(project) as opened:
        opened.execute(f"UPDATE entry SET value = substr(value, 2) WHERE {KEPT}")
    with resolved(3):
        assert edit(project, 2) == found
    with resolved(0):
        assert edit(project, 2) == found


def test_what_other_code_found_is_found_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    with resolved(0):
        found = edit(project, 2)
    monkeypatch.setattr(results, "code_identity", lambda *, refresh=False: b"other")
    edit(project, 2)
    with database(project) as opened:
        number = opened.execute(f"SELECT count(*) FROM entry WHERE {KEPT}").fetchone()[0]
    assert (
        number == 2 * (len(STEPS) + 1) + 1
    )  # each of the ingest step and others by both, the first in two forms by one
    assert edit(project, 2) == found
