"""What a process keeps of a project: equal as long as the project is, made again as soon as it is not."""

from pathlib import Path

import pytest

from streamhouse.planner import catalog_cache
from streamhouse.planner.language.lexicon import lexicon_of
from streamhouse.planner.workspace import Workspace
from streamhouse.project.project import Project
from tests.shop_project import make_shop


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setattr(catalog_cache, "_entries", {})
    return Project.at(make_shop(tmp_path))


def _fresh(project: Project, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(catalog_cache, "_entries", {})
    return Workspace.of(project)


def test_nothing_changed(shop: Project) -> None:
    first, second = Workspace.of(shop), Workspace.of(shop)
    assert second.catalog is first.catalog
    assert second.registry is first.registry
    assert lexicon_of(second.catalog) is lexicon_of(first.catalog)


@pytest.mark.parametrize("ending", [".sql", ".yaml"])
def test_a_file_changed(shop: Project, monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    first = Workspace.of(shop)
    file = next(file for file in (*first.files.actions, *first.files.flows) if file.name.endswith(ending))
    comment = "\n-- another\n" if ending == ".sql" else "\n# another\n"
    (shop.root / file.name).write_text(file.text() + comment)
    second = Workspace.of(shop)
    assert second.registry is not first.registry
    assert second.registry.files[file.name].text().endswith(comment)
    assert second.catalog == _fresh(shop, monkeypatch).catalog


def test_a_meaning_changed(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Workspace.of(shop)
    file = shop.root / "actions/clean/clean_sales.sql"
    file.write_text(file.read_text().replace("unit: USD", "unit: EUR"))
    second = Workspace.of(shop)
    assert first.catalog.tables["dwd.sales"].measures["revenue"].unit == "USD"
    assert second.catalog.tables["dwd.sales"].measures["revenue"].unit == "EUR"
    assert second.catalog == _fresh(shop, monkeypatch).catalog


def test_rows_of_a_source_changed(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Workspace.of(shop)
    data = shop.root / "data/stores.csv"
    data.write_text(data.read_text().replace("Oslo", "Kyoto"))
    second = Workspace.of(shop)
    assert "Oslo" in first.catalog.tables["ods.stores"].column("city").values
    assert set(second.catalog.tables["ods.stores"].column("city").values) == {"Kyoto", "Rome"}
    assert second.catalog == _fresh(shop, monkeypatch).catalog


def test_few_projects_are_cached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog_cache, "_entries", {})
    monkeypatch.setattr(catalog_cache, "_PROJECTS_MAX", 2)
    shops = [Project.at(make_shop(tmp_path / name)) for name in "abc"]
    catalogs = [Workspace.of(shop).catalog for shop in shops]
    assert list(catalog_cache._entries) == [shop.root for shop in shops[1:]]
    assert catalogs[0] == catalogs[1] == catalogs[2]
