"""The project that ships with Streamhouse says what each of its tables and columns means."""

from pathlib import Path

from streamhouse.planner.build_catalog import build_catalog
from streamhouse.project.check import check_project, load_registry
from streamhouse.project.project import Project

ROOT = Path(__file__).parents[3]


def test_every_table_and_column_is_described() -> None:
    project = Project.at(ROOT)
    checked = check_project(project)
    assert checked.errors == checked.meaning == checked.notices == ()
    catalog = build_catalog(load_registry(project), checked.plans)
    assert [name for name, table in catalog.tables.items() if not table.description] == []
    nameless = [f"{t.name}.{c.name}" for t in catalog.tables.values() for c in t.columns if not c.description]
    assert nameless == []
    units = [f"{t.name}.{c.name}" for t in catalog.tables.values() for c in t.columns if c.name.endswith("_cents")]
    assert units
    assert all(c.unit == "cents" for t in catalog.tables.values() for c in t.columns if c.name.endswith("_cents"))
