"""The DAGs of a project: of what is applied, whatever the files say by now."""

import sqlite3
from contextlib import closing

import pytest

from streamhouse.orchestrator.compiled import compile_flows
from streamhouse.orchestrator.files import files_of
from streamhouse.state.runners import WantedState
from tests.shop import BOARDS, FLOW, made_world

TABLES = ("ods.rows", "dwd.sales", "dws.totals")
HOT = f"tables: {{{', '.join(f'{name}: {{tiers: {{hot: 7d}}}}' for name in TABLES)}}}\n"


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    with made_world(tmp_path, "off") as made:
        yield made


def dags(world, flow="shop"):
    return {dag.id.partition("__")[0] for dag in compile_flows(world.project.root).flows[flow].dags}


def test_an_edit_makes_no_other_dags_until_it_is_applied(world):
    before = files_of(compile_flows(world.project.root))
    assert FLOW in compile_flows(world.project.root).yaml["shop"]
    world.flow(HOT)
    assert files_of(compile_flows(world.project.root)) == before
    assert "tier" in dags(world)
    world.run()
    assert "tier" not in dags(world)


def test_where_every_edit_is_taken_the_files_make_the_dags(world, monkeypatch):
    monkeypatch.setenv("STREAMHOUSE_AUTO_APPLY", "all")
    world.flow(HOT)
    assert "tier" not in dags(world)


def test_a_file_that_is_wrong_takes_no_dag_away_and_is_told(world):
    before = dags(world)
    world.flow(text="flow: shop\n")
    compiled = compile_flows(world.project.root)
    assert dags(world) == before
    assert "SH101" in compiled.broken["shop"]
    assert {"shop.py", "shop.json", "_edit_shop.py", "boards.py"} <= set(files_of(compiled))


def test_a_flow_that_no_file_defines_has_dags_while_it_is_wanted(world):
    world.flow(name="more", text=BOARDS.replace("boards", "more").replace("ads.board", "ads.more"))
    assert set(compile_flows(world.project.root).flows) == {"boards", "more", "shop"}
    (world.project.root / "flows" / "boards.yaml").unlink()
    assert set(compile_flows(world.project.root).flows) == {"more", "shop"}
    world.state.runners.ask("boards", WantedState.RUNNING, "ada")
    assert set(compile_flows(world.project.root).flows) == {"boards", "more", "shop"}


@pytest.mark.parametrize(("mode", "there"), [("off", False), ("suggest", True), ("auto", True)])
def test_the_autopilot_has_a_dag_unless_it_is_off(world, mode, there):
    (world.project.root / "streamhouse.yaml").write_text(f"autopilot: {{mode: {mode}}}\n")
    files = files_of(compile_flows(world.project.root))
    assert ("_autopilot.py" in files) is there
    assert "autopilot" not in files["_project.py"]


def test_a_plan_that_cannot_be_read_takes_no_dag_away_and_is_told(world):
    before = dags(world)
    with closing(sqlite3.connect(world.project.state_dir / "state.db")) as connection, connection:
        connection.execute("UPDATE streamhouse_plan SET fingerprint = '0' WHERE flow = 'shop'")
    compiled = compile_flows(world.project.root)
    assert {"boards", "shop"} <= set(compiled.flows)
    assert dags(world) == before
    assert "SH504 the state store is damaged: revision 1 of flow 'shop'" in compiled.broken["shop"]
