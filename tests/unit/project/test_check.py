"""A check with its cache gives what one without it gives: whatever was edited, whatever is in the cache."""

import gc
import json
import random
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from streamhouse.compiler import compile_project
from streamhouse.compiler import step as step_module
from streamhouse.compiler.diff import diff
from streamhouse.compiler.diff.around import Around
from streamhouse.errors import DefinitionErrors, StreamhouseError
from streamhouse.model.flow import Flow, Step
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column, Table, Tiers
from streamhouse.model.types import StepKind
from streamhouse.project import applied as applied_module
from streamhouse.project.applied import applied_state
from streamhouse.project.cache import compiled as compiled_module
from streamhouse.project.cache.compiled import CachedCompiler, related
from streamhouse.project.cache.made_of import CachedMadeOf
from streamhouse.project.cache.models import facts, packed, unpacked
from streamhouse.project.cache.parallel import at_once, shared_out
from streamhouse.project.cache.results import Cache
from streamhouse.project.check import check_project, compile_one, compile_with_upstream, load_registry
from streamhouse.project.known_inputs import KnownInputs
from streamhouse.project.project import Project
from streamhouse.registry import Registry
from streamhouse.registry import registry as registry_module
from streamhouse.registry.files import read_files
from streamhouse.sql.made_of import MadeOfHere
from tests.columns import columns_of

FIXTURES = Path(__file__).parents[2] / "fixtures"
PROJECTS = sorted(p for kind in ("valid", "invalid") for p in (FIXTURES / "compile" / kind).iterdir() if p.is_dir())
FILES = sorted(f for f in (FIXTURES / "invalid").iterdir() if f.suffix in {".yaml", ".sql"})
COLUMNS = "{id: bigint, dept: string, n: bigint}"


@contextmanager
def no_cache():
    """Nothing is remembered, neither from call to call nor from step to step."""
    with (
        patch("streamhouse.project.cache.results.code_identity", lambda *, refresh=False: None),
        patch("streamhouse.compiler.analyses.Analyses.of", lambda _self, _action, _facts, find: find()),
    ):
        yield


@contextmanager
def at_most(parsed):
    """No more files are read as actions or flows, and no more steps planned, than these."""
    steps, files = [], []
    plan_step, understood = compiled_module.plan_step, registry_module.understood

    def planned(step, *rest):
        steps.append(step.writes)
        return plan_step(step, *rest)

    def read(file):
        files.append(file.name)
        return understood(file)

    with (
        patch("streamhouse.project.cache.compiled.plan_step", planned),
        patch("streamhouse.registry.registry.understood", read),
    ):
        yield
    assert (sorted(steps), sorted(files)) == (sorted(parsed.get("steps", ())), sorted(parsed.get("files", ())))


# --- fixtures: the same messages and plans, cold and warm -------------------------------------------


def compiled(root, cache):
    memory = CachedCompiler(cache)
    registry = memory.registry(read_files(root))
    registry.check()
    written = yaml.safe_load((root / "sources.yaml").read_text())
    sources = {
        flow: {name: columns_of(columns) for name, columns in of}
        for flow, of in ((flow, declared.items()) for flow, declared in written.items())
    }
    return compile_project(registry.flows.values(), registry, sources, memory.compile_flow)


@pytest.mark.parametrize("root", PROJECTS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_projects_say_the_same_cold_and_warm(root, tmp_path):
    told = []
    for code in (None, b"code", b"code"):
        cache = Cache(tmp_path / "plan.db", code)
        try:
            told.append(compiled(root, cache))
        except StreamhouseError as error:
            told.append(str(error))
        cache.close()
    assert told[0] == told[1] == told[2]
    if root.parent.name == "invalid":
        assert f"{told[2]}\n" == (root / "message.txt").read_text()


def test_broken_files_say_the_same_cold_and_warm(tmp_path):
    for file in FILES:
        folder = tmp_path / ("actions" if file.suffix == ".sql" else "flows")
        folder.mkdir(exist_ok=True)
        shutil.copy(file, folder / file.name)
    told = []
    for code in (None, b"code", b"code"):
        cache = Cache(tmp_path / "plan.db", code)
        told.append([str(error) for error in CachedCompiler(cache).registry(read_files(tmp_path)).errors])
        cache.close()
    assert told[0] == told[1] == told[2]
    assert len(told[0]) >= len(FILES)


# --- projects under edits ------------------------------------------------------------------------


def action(name, sql, kind="clean", columns=COLUMNS, extra=""):
    return f"/* ---\naction: {name}\nstep: {kind}\ninputs: {{r: {columns}}}\n{extra}--- */\n{sql}\n"


def flow(name, source, steps, tables=""):
    written = "\n".join(f"  - {step}" for step in steps)
    sources = f"sources:\n  rows: {{files: {{path: {source}}}}}\n" if source else ""
    return f"flow: {name}\n{sources}steps:\n{written}\n{tables}"


@pytest.fixture
def project(tmp_path):
    """Two flows, of which the second reads a table of the first, and a third by itself."""
    for folder in ("actions", "flows", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "data" / "rows.csv").write_text("id,dept,n\n1,a,1\n")
    files = {
        "actions/take.sql": "/* ---\naction: take\nstep: ingest\ninputs: {r: {}}\n--- */\nSELECT * FROM r\n",
        "actions/good.sql": action("good", "SELECT id, dept, n FROM r WHERE n > 0"),
        "actions/more.sql": action("more", "SELECT id, n + 1 AS n FROM r", columns="{id: bigint, n: bigint}"),
        "actions/first.sql": action(
            "first",
            "WITH a AS (SELECT *, row_number() OVER (PARTITION BY dept ORDER BY id) AS k FROM r)\n"
            "SELECT dept, id, k FROM a WHERE k < 3",
            "customize",
            extra="output: {primary_key: [dept, id]}\n",
        ),
        "actions/total.sql": action(
            "total",
            "SELECT dept, SUM(n) AS s FROM r GROUP BY dept",
            "aggregate",
            extra="params: {unused: {type: int, default: 1}}\n",
        ),
        "flows/a.yaml": flow(
            "a",
            "data/rows.csv",
            [
                "{use: take, reads: {r: rows}, writes: ods.a}",
                "{use: good, reads: {r: ods.a}, writes: dwd.a}",
                "{use: total, reads: {r: dwd.a}, writes: dws.a}",
            ],
        ),
        "flows/b.yaml": flow("b", "", ["{use: first, reads: {r: dwd.a}, writes: ads.b}"]),
        "flows/c.yaml": flow(
            "c",
            "data/rows.csv",
            ["{use: take, reads: {r: rows}, writes: ods.c}", "{use: more, reads: {r: ods.c}, writes: dwd.c}"],
        ),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return Project.at(tmp_path)


def told(checked):
    return {
        "errors": [str(error) for error in checked.errors],
        "notices": [str(notice) for notice in checked.notices],
        "plans": list(checked.plans.items()),
        "counts": (checked.actions, checked.flows),
    }


def assert_as_fresh(project):
    """The cached check, the fresh one, and the cached one once more agree; gives what it says."""
    with no_cache():
        fresh = told(check_project(project, Registry.load(project.root)))
    with patch.object(compiled_module, "_MANY", 1):
        assert told(check_project(project, processes=3)) == fresh
    assert told(check_project(project)) == fresh
    for name in (name for name, _ in fresh["plans"]):
        assert compile_with_upstream(project, load_registry(project), name) == dict(fresh["plans"])[name]
        assert compile_one(project, name) == dict(fresh["plans"])[name]
    assert_origins_as_fresh(project, dict(fresh["plans"]))
    return fresh


def assert_origins_as_fresh(project, plans):
    """What columns are made of is kept as it is found of the text of each step."""
    with Cache.at(project.state_dir / "cache" / "plan") as cache:
        for plan in plans.values():
            kept, fresh = Around.of(plan, CachedMadeOf(cache)), Around.of(plan, MadeOfHere())
            for step in plan.steps:
                one, other = kept.made_of(step), fresh.made_of(step)
                assert (list(one.values.items()), one.decides) == (list(other.values.items()), other.decides)


def edit(project, name, old, new):
    file = project.root / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


def test_nothing_changed_parses_nothing(project):
    first = assert_as_fresh(project)
    assert first["errors"] == []
    assert len(first["plans"]) == 3
    assert len(first["notices"]) == 2
    with at_most({}):
        assert told(check_project(project)) == first


def test_one_edit_plans_that_step_and_those_behind_it(project):
    check_project(project)
    edit(project, "actions/good.sql", "n > 0", "n > 1")
    with at_most({"files": ["actions/good.sql"], "steps": ["dwd.a"]}):
        check_project(project)  # its columns are as before
    edit(project, "actions/good.sql", "dept, n", "dept, n, n AS extra")
    with at_most({"files": ["actions/good.sql"], "steps": ["dwd.a", "dws.a", "ads.b"]}):
        check_project(project)
    assert_as_fresh(project)


def test_steps_that_use_an_action_alike_share_its_analysis(project):
    header = "params: {least: {type: bigint, default: 1}, flag: {type: boolean, default: true}}\n"
    sql = "SELECT id, dept, n, :least AS least, :flag AS flag FROM r WHERE n > :least"
    wide = action("wide", sql, columns="{id: bigint, dept: string, n: bigint}", extra=header)
    (project.root / "actions" / "wide.sql").write_text(wide)
    sums = action("sums", "SELECT dept, SUM(n) AS s FROM r GROUP BY dept", "aggregate")
    (project.root / "actions" / "sums.sql").write_text(sums)
    steps = [
        "{use: take, reads: {r: rows}, writes: ods.d}",
        "{use: take, reads: {r: rows}, writes: ods.keyed}",
        "{use: wide, reads: {r: ods.d}, writes: dwd.d1}",
        "{use: wide, with: {least: 1}, reads: {r: ods.d}, writes: dwd.d2}",
        "{use: wide, with: {least: 2}, reads: {r: ods.d}, writes: dwd.d3}",
        "{use: wide, with: {flag: false}, reads: {r: ods.d}, writes: dwd.d4}",
        "{use: wide, reads: {r: ods.keyed}, writes: dwd.d5}",
        "{use: wide, reads: {r: ods.d}, writes: dwd.d6}",
        "{use: sums, reads: {r: dwd.d1}, writes: dws.d1}",
        "{use: sums, strategy: recompute, reads: {r: dwd.d2}, writes: dws.d2}",
        "{use: sums, reads: {r: dwd.d2}, writes: dws.d3}",
    ]
    tables = "tables:\n  ods.keyed: {primary_key: [id]}\n  dws.d3: {tiers: {warm: forever}}\n"
    (project.root / "flows" / "d.yaml").write_text(flow("d", "data/rows.csv", steps, tables))
    with patch("streamhouse.compiler.step.analyse", wraps=step_module.analyse) as analyse:
        plans = check_project(project).plans
    # All of a; first in b; more in c, for take reads the same everywhere; five ways of wide, and sums.
    assert analyse.call_count == 3 + 1 + 1 + 5 + 1
    fresh = dict(assert_as_fresh(project)["plans"])["d"]
    assert plans["d"] == fresh
    found = {step.id: step for step in fresh.steps}
    assert {found[f"dwd.d{n}"].sql for n in (1, 2, 5, 6)} == {found["dwd.d1"].sql}
    assert len({found[f"dwd.d{n}"].sql for n in (1, 3, 4)}) == 3
    assert found["dwd.d5"].writes.primary_key == ("id",)
    assert not found["dwd.d1"].writes.primary_key
    assert (found["dws.d1"].strategy, found["dws.d2"].strategy) == ("merge", "recompute")


def test_a_step_that_is_wrong_is_told_of_each(project):
    bad = action("bad", "SELECT id, nothing FROM r")
    (project.root / "actions" / "bad.sql").write_text(bad)
    steps = ["{use: bad, reads: {r: ods.a}, writes: dwd.x}", "{use: bad, reads: {r: ods.c}, writes: dwd.y}"]
    (project.root / "flows" / "d.yaml").write_text(flow("d", "", steps))
    assert len(assert_as_fresh(project)["errors"]) == 1


def test_layout_of_a_flow_plans_nothing_anew(project):
    before = told(check_project(project))
    file = project.root / "flows" / "a.yaml"
    file.write_text(f"# a comment\n\n{file.read_text()}")
    with at_most({"files": ["flows/a.yaml"]}):
        assert told(check_project(project)) == before


def test_places_follow_their_files(project):
    before = assert_as_fresh(project)
    for name in ("actions/first.sql", "actions/total.sql"):
        edit(project, name, "inputs:", "description: moved\ninputs:")
    after = assert_as_fresh(project)
    assert before["notices"] != after["notices"]
    assert [notice.split(":")[0] for notice in before["notices"]] == [n.split(":")[0] for n in after["notices"]]
    (project.root / "actions" / "first.sql").rename(project.root / "actions" / "renamed.sql")
    assert "actions/renamed.sql" in {notice.split(":")[0] for notice in assert_as_fresh(project)["notices"]}


def test_columns_of_a_source_are_seen(project):
    before = dict(assert_as_fresh(project)["plans"])
    (project.root / "data" / "rows.csv").write_text("id,dept,n,city\n1,a,1,x\n")
    after = dict(assert_as_fresh(project)["plans"])
    assert "city" in after["a"].tables["ods.a"].column_names
    assert before["a"] != after["a"]
    (project.root / "data" / "rows.csv").write_text("id,n\n1,1\n")
    assert "no column 'dept'" in "".join(assert_as_fresh(project)["errors"])
    (project.root / "data" / "rows.csv").unlink()
    assert assert_as_fresh(project)["errors"]


def test_a_table_of_another_flow_is_seen(project):
    assert_as_fresh(project)
    edit(project, "flows/a.yaml", "writes: dws.a}", "writes: dws.a}\ntables: {dwd.a: {tiers: {warm: 30d}}}")
    plans = dict(assert_as_fresh(project)["plans"])
    assert plans["b"].external[0].tiers.warm == timedelta(days=30)
    edit(project, "actions/good.sql", "id, dept, n", "id, n")
    assert "dwd.a has no column 'dept'" in "".join(assert_as_fresh(project)["errors"])


def test_tables_that_flows_share_have_all_columns(project):
    for name, column in (("x", "n"), ("y", "dept")):
        sql = f"SELECT id, {column} FROM r"
        (project.root / "actions" / f"{name}.sql").write_text(action(name, sql, extra="output: {primary_key: [id]}\n"))
        steps = [f"{{use: {name}, reads: {{r: ods.a}}, writes: dwd.both}}"]
        tables = "tables: {dwd.both: {merge_engine: partial_update}}\n"
        (project.root / "flows" / f"{name}.yaml").write_text(flow(name, "", steps, tables))
    plans = dict(assert_as_fresh(project)["plans"])
    assert set(plans["x"].tables["dwd.both"].column_names) == {"id", "n", "dept"}
    edit(project, "actions/y.sql", "id, dept", "id, dept AS d")
    assert set(dict(assert_as_fresh(project)["plans"])["x"].tables["dwd.both"].column_names) == {"id", "n", "d"}


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(4))
def test_any_edits_give_what_a_fresh_check_gives(project, seed):
    chance = random.Random(seed)
    root = project.root
    broken = 0
    for number in range(10):
        actions, flows = sorted((root / "actions").iterdir()), sorted((root / "flows").iterdir())
        file = chance.choice([*actions, *actions, *flows])
        text = file.read_text()
        for _ in range(chance.choice((1, 1, 2))):
            what = chance.randrange(12)
            if what == 0:
                text = text.replace("n > ", "n >= ").replace("n + 1", "n + 2")
            elif what == 1:
                text = text.replace("SELECT id", "SELECT id + 1 AS id")
            elif what == 2:
                text = text.replace("dept", "dpt", 1)
            elif what == 3:
                text = text.replace("FROM r", "FROM r -- note\n", 1)
            elif what == 4:
                text = text.replace("--- */", "description: other\n--- */").replace("steps:", "owner: me\nsteps:")
            elif what == 5:
                text = f"\n{text}" if file.suffix == ".yaml" else text.replace("/* ---\n", "/* ---\n# note\n", 1)
            elif what == 6:
                text = text.replace("writes: dwd.", "writes: dwd.x", 1)
            elif what == 7:
                file.rename(file.with_stem(f"{file.stem}_{number}"))
                file = file.with_stem(f"{file.stem}_{number}")
            elif what == 8:
                new = f"new{number}"
                (root / "actions" / f"{new}.sql").write_text(action(new, "SELECT id, dept, n FROM r"))
                step = f"{{use: {new}, reads: {{r: ods.a}}, writes: dwd.{new}}}"
                (root / "flows" / f"{new}.yaml").write_text(flow(new, "", [step]))
            elif what == 9:
                header = chance.choice(("id,dept,n", "id,dept,n,more", "id,n"))
                (root / "data" / "rows.csv").write_text(f"{header}\n{','.join('1' for _ in header.split(','))}\n")
            elif what == 10:
                text = text.replace("SELECT", "SELEC", 1)
            elif what == 11:
                text = text.replace("step: clean", "version: 2.0.0\nstep: clean", 1)
        file.write_text(text)
        broken += bool(assert_as_fresh(project)["errors"])
        if broken and chance.random() < 0.7:  # set right again: most of the time the project is sound
            for wrong, right in (("dpt", "dept"), ("SELEC ", "SELECT "), ("dwd.x", "dwd.")):
                for each in [*(root / "actions").iterdir(), *(root / "flows").iterdir()]:
                    each.write_text(each.read_text().replace(wrong, right))
            (root / "data" / "rows.csv").write_text("id,dept,n\n1,a,1\n")
            assert_as_fresh(project)


def test_several_processes_find_what_one_finds(project):
    with no_cache():
        fresh = told(check_project(project, Registry.load(project.root)))
    files = read_files(project.root)
    done_here = {  # elsewhere the flow that is apart
        "steps": ["ods.a", "dwd.a", "dws.a", "ads.b"],
        "files": [file.name for file in (*files.actions, *files.flows)],
    }
    collected = gc.get_threshold()
    with patch.object(compiled_module, "_MANY", 1), at_most(done_here):
        found = told(check_project(project, processes=3))
    assert found == fresh
    assert (gc.get_threshold(), gc.get_freeze_count()) == (collected, 0)


def test_flows_that_share_no_table_are_apart():
    def of(name, *steps, sources=()):
        made = tuple(Step(use="x", reads={f"p{i}": {"table": t} for i, t in enumerate(r)}, writes=w) for r, w in steps)
        return Flow(flow=name, steps=made, sources={s: {"name": s, "kind": "files"} for s in sources})

    flows = [
        of("a", (["rows"], "ods.a"), (["ods.a"], "dwd.a"), sources=["rows"]),
        of("b", (["rows"], "ods.b"), sources=["rows"]),
        of("c", (["dwd.a", "ods.d"], "dws.c")),
        of("d", (["rows"], "ods.d"), sources=["rows"]),
        of("e", (["ods.b"], "dws.c2"), ([], "dws.e")),
        of("f", ([], "dws.f")),
    ]
    assert sorted(sorted(flow.flow for flow in group) for group in related(flows)) == [
        ["a", "c", "d"],
        ["b", "e"],
        ["f"],
    ]


def test_work_is_shared_out_and_what_a_process_that_dies_had_is_missing():
    assert shared_out([[1, 2, 3], [4], [5], [6], [7, 8]], 2) == [[1, 2, 3, 5], [7, 8, 4, 6]]
    assert shared_out([[1]], 3) == [[1]]
    assert at_once([], lambda part: {"x": part}) == {}

    def work(part):
        if part == 2:
            raise RuntimeError("dies")
        return {str(part): bytes([part]) * 200_000}

    assert {key: len(data) for key, data in at_once([1, 2, 3], work).items()} == {"1": 200_000, "3": 200_000}


# --- the cache itself ----------------------------------------------------------------------------


def test_a_broken_cache_is_made_anew(project):
    first = assert_as_fresh(project)
    file = project.state_dir / "cache" / "plan" / "plan.db"
    whole = file.read_bytes()
    for damaged in (b"", b"garbage", whole[: len(whole) // 2], whole[:200] + bytes(3000) + whole[3200:]):
        file.write_bytes(damaged)
        assert told(check_project(project)) == first
        with at_most({}):
            assert told(check_project(project)) == first
    shutil.rmtree(project.state_dir / "cache")
    assert told(check_project(project)) == first


def test_other_code_finds_nothing(project):
    check_project(project)
    with (
        patch("streamhouse.project.cache.results.code_identity", lambda *, refresh=False: b"other code"),
        at_most(
            {
                "files": [
                    file.relative_to(project.root).as_posix()
                    for folder in ("actions", "flows")
                    for file in (project.root / folder).iterdir()
                ],
                "steps": ["ods.a", "dwd.a", "dws.a", "ads.b", "ods.c", "dwd.c"],
            }
        ),
    ):
        check_project(project)


def test_a_look_at_a_project_leaves_nothing_behind(project):
    load_registry(project)
    assert not project.state_dir.exists()


@pytest.mark.proof
def test_several_processes_at_once(project):
    def run(_):
        program = "import sys; from streamhouse.cli.main import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", program, "validate", "--json"]
        done = subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=True)
        return {**json.loads(done.stdout), "seconds": 0}

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(run, range(4)))
    assert all(result == results[0] and result["ok"] for result in results)


@pytest.mark.proof
def test_a_warm_plan_loads_neither_sqlglot_nor_sqlalchemy(project):
    program = (
        "import sys; from streamhouse.cli.main import main; main(['plan']); "
        "print([m for m in ('sqlglot', 'sqlalchemy') if m in sys.modules])"
    )

    def run():
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=project.root, capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()

    cold, warm = run(), run()
    assert cold[-1] == "['sqlglot']"
    assert warm[-1] == "[]"
    assert cold[:-1] == warm[:-1]


def test_applied_plans_are_remembered_until_the_store_changes(project, monkeypatch):
    monkeypatch.setattr(applied_module, "_SETTLED_NS", 0)
    plans = dict(check_project(project).plans)
    assert applied_state(project, plans).flows == {}
    with project.state() as state:
        state.save_plan(plans["a"])
    first = applied_state(project, {})
    assert {name: one.revision for name, one in first.flows.items()} == {"a": 1}
    with patch.object(Project, "existing_state", side_effect=AssertionError("the store was opened")):
        assert applied_state(project, {}) == first
        assert applied_state(project, plans).flows["a"].plan is plans["a"]
    edit(project, "actions/good.sql", "n > 0", "n > 1")
    plans = dict(check_project(project).plans)
    with project.state() as state:
        state.save_plan(plans["a"])
        state.save_plan(plans["c"])
    second = applied_state(project, {})
    assert {name: one.revision for name, one in second.flows.items()} == {"a": 2, "c": 1}
    assert second.flows["a"].since == first.flows["a"].since
    assert second.flows["a"].plan != first.flows["a"].plan


def test_a_store_that_was_just_written_is_not_remembered(project):
    with project.state() as state:
        state.save_plan(check_project(project).plans["a"])
    assert applied_module._traces(project.state_url) is None


def test_notices_are_no_difference(project):
    compiled = check_project(project).plans["b"]
    applied = FlowPlan.model_validate_json(compiled.model_dump_json())
    assert compiled.steps[0].notices
    assert not applied.steps[0].notices
    assert [step.change for step in diff(applied, compiled, {}).steps] == ["same"]
    assert [step.change for step in diff(compiled, compiled, {}).steps] == ["same"]


# --- models as bytes -----------------------------------------------------------------------------


def test_what_cannot_be_read_back_is_not_kept():
    step = Step(use="x", writes="dwd.x")
    exact = Flow(flow="f", steps=(step,), freshness=timedelta(seconds=1))
    finer = exact.model_copy(update={"freshness": timedelta(seconds=1, microseconds=4)})
    assert unpacked(Flow, packed(exact)) == exact
    assert packed(finer) is None
    assert facts(exact) != facts(finer)
    assert packed(Step(use="x", writes="dwd.x", params={"p": float("nan")})) is None
    assert unpacked(Flow, b'{"flow": 1}') is None


def test_what_follows_from_a_flow_that_cannot_be_read_back_is_as_fresh(project):
    file = project.root / "flows" / "a.yaml"
    file.write_text(f"freshness: 1000.5ms\n{file.read_text()}")
    found = dict(assert_as_fresh(project)["plans"])
    assert found["a"].freshness == timedelta(seconds=1, microseconds=500)


def test_facts_tell_values_apart_that_look_alike():
    steps = [Step(use="x", writes="dwd.x", params={"p": value}) for value in (1, 1.0, True, "1", "True", None, "None")]
    assert len({facts(step) for step in steps}) == len(steps)
    table = Table(name="dwd.x", columns=(Column(name="a", type="int"),), tiers=Tiers(hot=timedelta(days=1)))
    assert facts(table) != facts(table.model_copy(update={"columns": (Column(name="a", type="int", nullable=False),)}))
    assert facts([StepKind.CLEAN]) != facts([StepKind.INGEST])


def test_errors_of_a_flow_that_is_asked_for_are_the_same(project):
    edit(project, "flows/b.yaml", "reads: {r: dwd.a}", "reads: {r: dwd.aa}")
    registry = Registry.load(project.root)
    texts = []
    for _ in range(3):
        with pytest.raises(StreamhouseError) as refused:
            compile_one(project, "b") if texts else compile_with_upstream(project, registry, "b")
        texts.append(str(refused.value))
    assert len(set(texts)) == 1
    assert "nothing makes 'dwd.aa'" in texts[0]
    assert not isinstance(refused.value, DefinitionErrors)


def test_flows_that_run_with_more_than_their_files_say_are_looked_up_step_by_step(project):
    edit(project, "actions/good.sql", " WHERE n > 0", "")
    running = KnownInputs(check_project(project).plans)
    edit(project, "actions/good.sql", "FROM r", "FROM r WHERE n > 0")
    with at_most({"files": ["actions/good.sql"], "steps": ["dwd.a", "dws.a", "ads.b"]}):
        files_alone = check_project(project).plans
    with at_most({}):  # what reads the table reads a column that may be NULL, as before
        seen = check_project(project, known_inputs=running).plans
    assert files_alone["a"].older_nulls == {}
    assert seen["a"].older_nulls == {"dwd.a": ("n",)}
    with at_most({}):
        assert check_project(project, known_inputs=KnownInputs(seen)).plans == seen
    registry = load_registry(project)
    assert compile_with_upstream(project, registry, "a", KnownInputs(seen)) == seen["a"]
    with at_most({}):
        assert compile_with_upstream(project, registry, "a", KnownInputs(seen)) == seen["a"]
