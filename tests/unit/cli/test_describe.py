"""`describe` proposes what is missing, writes it only when asked, and then has nothing more to say."""

import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.project.check import check_project
from streamhouse.project.project import Project


@pytest.fixture
def shown(project):
    """The project whose rows of `ods.orders` may leave this machine."""
    file = project / "actions/ingest_orders.sql"
    file.write_text(file.read_text().replace("step: ingest", "ai: {rows: allowed}\nstep: ingest", 1))
    return project


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def texts(root):
    return {f: f.read_text() for kind in ("actions/*.sql", "flows/*.yaml") for f in root.glob(kind)}


def test_it_shows_a_diff_and_writes_nothing(project, capsys):
    before = texts(project)
    assert main(["describe"]) == 0
    out = capsys.readouterr().out
    assert "+++ actions/clean_orders.sql" in out
    assert '+  amount_cents: {description: "amount, in cents", synonyms: [amount], unit: cents}' in out
    assert texts(project) == before


def test_what_it_writes_is_sound_changes_no_plan_and_is_all(project, capsys):
    before, plans = texts(project), check_project(Project.at(project)).plans
    assert main(["describe", "--write", "--values"]) == 0
    after = texts(project)
    for file, text in before.items():
        assert [line for line in text.split("\n") if "#" in line and line not in after[file]] == []
    checked = check_project(Project.at(project))
    assert checked.errors == checked.meaning == ()
    assert {name: plan.fingerprint for name, plan in checked.plans.items()} == {
        name: plan.fingerprint for name, plan in plans.items()
    }
    capsys.readouterr()
    assert main(["describe", "--values"]) == 0
    assert "nothing is missing" in capsys.readouterr().out


def test_values_of_rows_are_written_only_when_asked(shown, capsys):
    for asked in (False, True):
        assert main(["describe", "--json", *(["--values"] if asked else [])]) == 0
        assert ('"values"' in capsys.readouterr().out) is asked


def test_values_of_a_table_that_keeps_its_rows_back_become_no_description(project, capsys):
    assert main(["describe", "--json", "--values"]) == 0
    told = capsys.readouterr()
    assert '"values"' not in told.out
    assert "values of ods.orders, dwd.orders, dws.revenue_by_product are not proposed" in told.err
    assert main(["describe", "--json"]) == 0
    assert "not proposed" not in capsys.readouterr().err


def test_one_table_as_json(project, capsys):
    assert main(["describe", "dwd.orders", "--json"]) == 0
    (file,) = json.loads(capsys.readouterr().out)["files"]
    assert (file["file"], list(file["tables"])) == ("actions/clean_orders.sql", ["dwd.orders"])


def test_a_table_that_is_none(project, capsys):
    assert main(["describe", "dwd.order"]) == 3
    assert "did you mean 'dwd.orders'?" in capsys.readouterr().err
