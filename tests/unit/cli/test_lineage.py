import json

import pytest

from streamhouse.cli.init import write_project
from streamhouse.cli.main import main
from streamhouse.compiler.diff.around import Around
from streamhouse.errors import TableLostError
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.state.troubles import RESTORE


@pytest.fixture
def project(tmp_path, monkeypatch):
    write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def links(capsys, *arguments):
    capsys.readouterr()
    assert main(["lineage", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_column_comes_from_values_and_from_what_decides_its_rows(project, capsys):
    found = links(capsys, "dws.revenue_by_product.revenue_cents", "--up")
    near = {(x["column"], x["role"]) for x in found["up"] if x["distance"] == 1}
    assert ("amount_cents", "value") in near
    assert ("product", "rows") in near
    assert {x["table"] for x in found["up"]} == {"dwd.orders", "ods.orders", "lines"}
    assert "down" not in found


def test_a_source_column_goes_into_every_layer(project, capsys):
    found = links(capsys, "ods.orders.price", "--down")
    assert {x["into"]["table"] for x in found["down"]} == {"dwd.orders", "dws.revenue_by_product"}
    assert any(x["role"] == "rows" and x["into"]["column"] is None for x in found["down"])


def test_a_table_in_both_directions(project, capsys):
    assert main(["lineage", "dwd.orders"]) == 0
    out = capsys.readouterr().out
    assert "dwd.orders comes from" in out
    assert "dwd.orders goes into" in out
    assert "dws.revenue_by_product.revenue_cents" in out


def test_what_is_unknown(project, capsys):
    assert main(["lineage", "dwd.oders"]) == 3
    assert "did you mean 'dwd.orders'?" in capsys.readouterr().err
    assert main(["lineage", "dwd.orders.amount_cent"]) == 3
    assert "did you mean 'amount_cents'?" in capsys.readouterr().err


def test_only_steps_on_the_way_are_analysed(project, capsys, monkeypatch):
    flow = (project / "flows" / "orders.yaml").read_text()
    other = flow.replace("flow: orders", "flow: others")
    for layer in ("ods", "dwd", "dws", "ads"):
        other = other.replace(f"{layer}.", f"{layer}.other_")
    (project / "flows" / "others.yaml").write_text(other)
    analysed, made_of = [], Around.made_of
    monkeypatch.setattr(Around, "made_of", lambda self, step: analysed.append(step.id) or made_of(self, step))
    found = links(capsys, "dwd.orders.amount_cents")
    assert "lines" not in {x["table"] for x in found["up"]}, "two flows have a source of that name"
    assert "orders:lines" in {x["table"] for x in found["up"]}
    assert sorted(analysed) == sorted({"ods.orders", "dwd.orders", "dws.revenue_by_product"})


MEANING = """\
description: Orders without mistakes.
columns: {amount_cents: {description: what is paid, unit: cents, synonyms: [price]}}
measures: {revenue: {sql: SUM(amount_cents) / 100, unit: USD}}
"""


def test_lineage_and_action_show_tell_what_is_meant(project, capsys):
    file = project / "actions/clean_orders.sql"
    text = file.read_text()
    meant = ("description:", "measures:", "  revenue:", "  pieces:")
    lines = [line for line in text.splitlines(keepends=True) if not line.startswith(meant)]
    at = next(number for number, line in enumerate(lines) if line.startswith("inputs:"))
    file.write_text("".join([*lines[:at], MEANING, *lines[at:]]))
    found = links(capsys, "dwd.orders")["meaning"]
    assert found["description"] == "Orders without mistakes."
    assert found["columns"]["amount_cents"] == {"description": "what is paid", "unit": "cents", "synonyms": ["price"]}
    assert found["measures"] == {"revenue": {"sql": "SUM(amount_cents) / 100", "unit": "USD"}}
    assert links(capsys, "dwd.orders.amount_cents")["meaning"]["unit"] == "cents"
    assert main(["lineage", "dwd.orders"]) == 0
    assert "what is paid" in capsys.readouterr().out
    assert main(["action", "show", "clean_orders"]) == 0
    out = capsys.readouterr().out
    assert "what is paid" in out
    assert "SUM(amount_cents) / 100" in out


def test_what_a_table_lacks_since_a_loss_and_what_rests_on_it(project, capsys):
    with Project.at(project).state() as state:
        for table, text in {
            "ods.orders": "ods.orders lacks 5 changes that were lost with the hot tier",
            "dwd.orders": "dwd.orders is made from ods.orders, which lacks rows",
        }.items():
            state.troubles.failed("orders", table, Tier.HOT, RESTORE, TableLostError(text, hint="compute it"))
            assert links(capsys, table)["lacks"] == [text]
            assert main(["lineage", table]) == 0
            assert text in capsys.readouterr().out
            assert main(["status"]) == 0
            told = " ".join(capsys.readouterr().out.split())
            assert f"orders: {text}; since" in told
            assert "hint: compute it" in told
            assert state.troubles.mended("orders", table, Tier.HOT, RESTORE)
            assert links(capsys, table)["lacks"] == []
