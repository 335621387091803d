"""A lake that is gone or damaged is an error wherever it is read, filled or kept up; it never gives fewer rows."""

import shutil
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from streamhouse.errors import StateConflictError, StoreError, StreamhouseError, TableLostError
from streamhouse.jobs import tier as tier_module
from streamhouse.jobs import upkeep as upkeep_module
from streamhouse.jobs.query import Engine, QueryService
from streamhouse.jobs.run import Meter, carry
from streamhouse.jobs.tier import tier_flows
from streamhouse.jobs.upkeep import keep_up
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.open import plan_of
from streamhouse.stores.fluss import FlussStore
from tests.gate.levels import deep
from tests.live import FLOW, add, opened_project
from tests.patience import SOAKING

pytestmark = [
    pytest.mark.services,
    pytest.mark.spark,
    deep(
        "each way to lose a lake; a lost warm folder and lost files stay",
        stays=(
            "test_a_lost_table_is_an_error_everywhere[warm-folder]",
            "test_files_that_are_gone_are_an_error_where_they_are_read[warm-data]",
            "test_files_that_are_gone_are_an_error_where_they_are_read[cold-data]",
            "test_a_hot_table_that_is_gone_is_an_error_everywhere",
        ),
    ),
]

TIERS = "tables: {ods.lv_orders: {tiers: {hot: 1d, warm: 30d}}, dwd.lv_orders: {tiers: {hot: 1d, cold: 90d}}}\n"
LAKES = {Tier.WARM: "ods.lv_orders", Tier.COLD: "dwd.lv_orders"}
PLAIN, COUNT = "select * from {}", "select count(*) from {}"


@pytest.fixture(scope="module")
def open_(tmp_path_factory, fluss, spark):
    root = tmp_path_factory.mktemp("lost")
    with opened_project(root, fluss, spark) as opened:
        cold = spark.conf.get("spark.sql.catalog.cold.warehouse")  # where the session that all tests share has it
        settings = Settings.model_validate({"fluss": fluss, "cold": {"warehouse": cold}})
        found = replace(opened, project=Project(root, settings))
        file = root / "flows" / f"{FLOW}.yaml"
        file.write_text(file.read_text() + TIERS)

        @contextmanager
        def as_it_is(*_, **__):
            yield found

        with pytest.MonkeyPatch.context() as patch:  # else it would stop the session that all tests share
            for module in (tier_module, upkeep_module):
                patch.setattr(module, "opened", as_it_is)
            for number in range(2):
                add(root, number)
                plan = plan_of(found.project, FLOW)
                carry(found, plan, Meter(plan, lambda _: None, once=True), once=True)
                tier_flows(found.project)
                copy_lakes(found, f"copy-{number}")
            yield found


def folder(open_, tier):
    layer, name = LAKES[tier].split(".")
    if tier is Tier.WARM:
        return Path(open_.project.warm) / f"{layer}.db" / name
    return Path(open_.project.cold) / layer / name


def copy_lakes(open_, to):
    for tier in LAKES:
        shutil.copytree(folder(open_, tier), open_.project.root / to / tier)


@contextmanager
def damaged(open_, tier, damage):
    """The table's folder as a damage leaves it; whole again afterwards."""
    place, before = folder(open_, tier), open_.project.root / "before"
    shutil.copytree(place, before)
    damage(place, open_.project.root / "copy-0" / tier)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        shutil.move(before, place)


def remove(*patterns):
    def damage(place, _):
        for pattern in patterns:
            found = list(place.glob(pattern))
            assert found, pattern
            for one in found:
                shutil.rmtree(one) if one.is_dir() else one.unlink()

    return damage


def whole_folder(place, _):
    shutil.rmtree(place)


def older_copy(place, older):
    shutil.rmtree(place)
    shutil.copytree(older, place)


LOST = [
    *((Tier.WARM, name, damage) for name, damage in {
        "folder": whole_folder, "first schema": remove("schema/schema-0"), "schemas": remove("schema"),
        "snapshots": remove("snapshot"), "older copy": older_copy,
    }.items()),
    *((Tier.COLD, name, damage) for name, damage in {
        "folder": whole_folder, "metadata": remove("metadata"), "older copy": older_copy,
    }.items()),
]  # fmt: skip
DAMAGED = ("first schema", "schemas", "snapshots")
"""What is lost so that other files of the table still tell of it: it is damaged, and its folder is to be moved away."""
BROKEN = [
    *((Tier.WARM, name, damage) for name, damage in {
        "manifests": remove("manifest"), "data": remove("**/*.parquet"),
    }.items()),
    *((Tier.COLD, name, damage) for name, damage in {
        "manifests": remove("metadata/*-m*.avro"), "manifest lists": remove("metadata/snap-*.avro"),
        "data": remove("data/**/*.parquet"),
    }.items()),
]  # fmt: skip


def ids(cases):
    return [f"{tier}-{name.replace(' ', '-')}" for tier, name, _ in cases]


def ask(open_, sql, engine=Engine.AUTO):
    with QueryService(open_.project) as asking:
        asking._spark = open_.spark  # else it would begin one of its own
        return asking.ask(sql, engine=engine).rows


def asked_of(tier):
    table = LAKES[tier]
    names = [*([table] if tier is Tier.WARM else []), f"{table}$lake", f"{table}${tier}"]  # of keys hot has them all
    yield from (form.format(name) for name in names for form in (PLAIN, COUNT))
    yield f"select * from {table}$lake$snapshots"
    yield f"select * from {table}$lake$files"
    yield f"select * from {table}$lake version as of 1"
    yield f"select * from {table}$lake timestamp as of current_timestamp()"


def test_whole_lakes_are_answered(open_):
    for tier in LAKES:
        for sql in asked_of(tier):
            assert ask(open_, sql).num_rows, sql


@pytest.mark.parametrize(("tier", "name", "damage"), LOST, ids=ids(LOST))
def test_a_lost_table_is_an_error_everywhere(open_, tier, name, damage):
    error = StoreError if name in DAMAGED else TableLostError
    with damaged(open_, tier, damage) as place:
        there = {file for file in place.rglob("*") if file.is_file()}
        for sql in asked_of(tier):
            with pytest.raises(StoreError):
                ask(open_, sql)
        with pytest.raises(StoreError):
            ask(open_, PLAIN.format(f"{LAKES[tier]}$lake"), Engine.SPARK)
        with pytest.raises(error):
            tier_flows(open_.project)
        with pytest.raises(error):
            tier_flows(open_.project, check=True)
        with pytest.raises(error):
            keep_up(open_.project)
        assert {file for file in place.rglob("*") if file.is_file()} == there, "nothing is made anew or removed"
        found = open_.state.troubles.current(FLOW)
        assert {(one.table, one.tier, one.job) for one in found} == {
            (LAKES[tier], tier, job) for job in ("tiering", "upkeep")
        }
    tier_flows(open_.project)
    keep_up(open_.project)
    assert not open_.state.troubles.current(FLOW)


@pytest.mark.parametrize(("tier", "_", "damage"), BROKEN, ids=ids(BROKEN))
def test_files_that_are_gone_are_an_error_where_they_are_read(open_, tier, _, damage):
    with damaged(open_, tier, damage):
        for engine in Engine:
            for sql in (PLAIN.format(f"{LAKES[tier]}$lake"), COUNT.format(f"{LAKES[tier]}$lake")):
                with pytest.raises(StoreError):
                    ask(open_, sql, engine)


def flipped(place, where):
    """Flip one bit in the middle of each data file."""
    files = [file for file in place.rglob("*.parquet") if file.is_file()]
    assert files
    for file in files:
        data = bytearray(file.read_bytes())
        data[int(len(data) * where)] ^= 0x10
        file.write_bytes(data)


@pytest.mark.parametrize("tier", LAKES)
def test_flipped_bits_are_never_other_rows(open_, tier):
    """At any place of a file: an error, or the very rows that were written."""
    sql = PLAIN.format(f"{LAKES[tier]}$lake")
    whole = sorted(map(repr, ask(open_, sql).to_pylist()))
    wrong = []
    parts = 60 if SOAKING else 12
    for part in range(parts):
        with damaged(open_, tier, lambda place, _, at=part / parts: flipped(place, at)):
            for engine in Engine if part % 6 == 1 else (Engine.AUTO,):
                with suppress(StreamhouseError):
                    if sorted(map(repr, ask(open_, sql, engine).to_pylist())) != whole:
                        wrong.append((part, engine))
    assert not wrong


def test_a_copy_is_filled_anew_only_when_it_is_asked_for(open_):
    rows = sorted(map(repr, ask(open_, PLAIN.format(LAKES[Tier.WARM])).to_pylist()))
    with damaged(open_, Tier.WARM, whole_folder):
        with pytest.raises(TableLostError):
            tier_flows(open_.project)
        done = tier_flows(open_.project, refill=True)
        moved = {m.table: m.rows for m in done.moved[FLOW]}
        assert moved.keys() >= set(LAKES.values())
        assert {table: count for table, count in moved.items() if count} == {LAKES[Tier.WARM]: len(rows)}
        assert sorted(map(repr, ask(open_, PLAIN.format(f"{LAKES[Tier.WARM]}$warm")).to_pylist())) == rows
    with pytest.raises(TableLostError, match="another table"):  # the one that was there before, put back
        tier_flows(open_.project)
    tier_flows(open_.project, refill=True)


def test_a_hot_table_that_is_gone_is_an_error_everywhere(open_, fluss):
    name = LAKES[Tier.WARM]
    FlussStore(fluss).drop(name)  # beside the ledger, as when Fluss lost its data
    for of in (name, f"{name}$hot", f"{name}$changes"):
        with pytest.raises(StoreError):
            ask(open_, PLAIN.format(of))
    with pytest.raises(StoreError):
        ask(open_, COUNT.format(f"{name}$hot timestamp as of current_timestamp()"))
    with pytest.raises(StateConflictError, match="is gone") as refused:
        tier_flows(open_.project)
    assert "streamhouse restore" in str(refused.value)
    with pytest.raises(TableLostError):  # the lakes have the only rows that are left
        upkeep_module.keep_up(open_.project)
    plan = plan_of(open_.project, FLOW)
    with pytest.raises(StreamhouseError, match="is gone"):
        carry(open_, plan, Meter(plan, lambda _: None, once=True), once=True)
    assert FlussStore(fluss).columns(name) is None, "nothing is made anew"
