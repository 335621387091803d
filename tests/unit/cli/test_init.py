import json

import pytest
import yaml
from jsonschema import Draft202012Validator

from streamhouse.cli.init import TEMPLATES, init, write_project
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
    "schemas/flow.schema.json",
    "schemas/settings.schema.json",
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


@pytest.mark.parametrize("wish", ["revenue per product and day", "pieces per day", "top 3 products by revenue"])
def test_the_first_wishes_over_a_new_project_are_answered(tmp_path, capsys, wish):
    write_project(tmp_path)
    assert main(["ask", wish, "--no-examples", "--project", str(tmp_path)]) == 0
    assert "next:" in capsys.readouterr().out


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_template_is_a_sound_project(tmp_path, capsys, name):
    assert main(["init", str(tmp_path / "new"), "--template", name]) == 0
    assert main(["validate", "--project", str(tmp_path / "new")]) == 0
    assert "no errors" in capsys.readouterr().out
    registry = Registry.load(tmp_path / "new")
    assert list(registry.flows) == ([TEMPLATES[name].flow] if TEMPLATES[name].flow else [])
    unused = [action for action in registry.actions if not registry.used_by(action)]
    assert unused == ([] if registry.flows else ["ingest_as_is"])
    tables = {step.writes for flow in registry.flows.values() for step in flow.steps}
    assert TEMPLATES[name].table in tables | {""}
    assert f"  {name:<12} {TEMPLATES[name].about}" in init.epilog


def test_an_unknown_template(tmp_path, capsys):
    assert main(["init", str(tmp_path / "new"), "--template", "iott"]) == 2
    assert "iott" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


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


def test_an_editor_finds_schemas_that_know_every_key(tmp_path):
    write_project(tmp_path)
    for name in ("flows/orders.yaml", "streamhouse.yaml"):
        file = tmp_path / name
        first, _, text = file.read_text().partition("\n")
        schema = json.loads((file.parent / first.removeprefix("# yaml-language-server: $schema=")).read_text())
        Draft202012Validator.check_schema(schema)
        assert not list(Draft202012Validator(schema).iter_errors(yaml.safe_load(text) or {}))
    flow = yaml.safe_load((tmp_path / "flows/orders.yaml").read_text())
    flow["sources"]["lines"]["files"]["pth"] = "data"
    schema = json.loads((tmp_path / "schemas/flow.schema.json").read_text())
    assert ["pth" in error.message for error in Draft202012Validator(schema).iter_errors(flow)] == [True]
