import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.errors import FolderNotEmptyError
from streamhouse.registry import Registry

FILES = [
    ".gitignore",
    "README.md",
    "actions/clean_orders.sql",
    "actions/ingest_orders.sql",
    "actions/revenue_by_product.sql",
    "data/orders-2026-01.csv",
    "flows/orders.yaml",
    "streamhouse.yaml",
]


def test_a_project_is_written_whole(tmp_path):
    folder = tmp_path / "deep" / "shop"
    assert sorted(write_project(folder)) == FILES
    assert sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()) == FILES


def test_its_definitions_are_sound(tmp_path):
    write_project(tmp_path)
    registry = Registry.load(tmp_path)
    registry.check()
    assert registry.warnings == ()
    assert list(registry.flows) == ["orders"]
    assert {use.flow for name in registry.actions for use in registry.used_by(name)} == {"orders"}


def test_a_folder_with_files_is_refused_and_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(FolderNotEmptyError, match=r"holds mine\.txt"):
        write_project(tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["mine.txt"]


def test_a_fresh_git_repository_is_fine(tmp_path):
    (tmp_path / ".git").mkdir()
    write_project(tmp_path)


def test_the_command_tells_what_to_do_next(tmp_path, capsys):
    assert main(["init", str(tmp_path / "shop")]) == 0
    assert "streamhouse run orders --once" in capsys.readouterr().out
    assert main(["init", str(tmp_path / "other"), "--json"]) == 0
    assert sorted(json.loads(capsys.readouterr().out)["files"]) == FILES
    assert main(["init", str(tmp_path / "shop")]) == 4
    assert capsys.readouterr().err.startswith("SH308 ")


def test_a_file_in_the_way(tmp_path, capsys):
    (tmp_path / "shop").touch()
    assert main(["init", str(tmp_path / "shop")]) == 2
    assert "is a file" in capsys.readouterr().err
