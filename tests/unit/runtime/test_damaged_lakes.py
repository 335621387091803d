"""A damaged file of a lake at rest: `plan` and `status` name the table that it belongs to, and end with 6."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa
import pytest

from streamhouse.cli.main import main
from streamhouse.engine.note import Note
from streamhouse.engine.traces import writer_of
from streamhouse.errors import StateConflictError, StoreError, StoreUnavailableError
from streamhouse.model.types import Tier
from streamhouse.orchestrator.approval_text import lost_texts
from streamhouse.project.desired import desired_plans
from streamhouse.project.project import Project
from streamhouse.runtime.lost_tables import LossKind, LostTables, SeenLosses, lost_tables, naming_damage
from streamhouse.runtime.owner import this_owner
from streamhouse.runtime.unreadable_tables import remedy_for
from streamhouse.state.records import EpochRecord
from streamhouse.stores.arrow import arrow_schema
from streamhouse.stores.base import EPOCH, WRITER, Changes, WriteContext
from streamhouse.stores.iceberg import checksums
from streamhouse.stores.paimon import PaimonStore
from streamhouse.stores.paimon.light import PaimonReader
from streamhouse.stores.unreadable import UnreadableTable
from tests.damage import DAMAGES, damaged, kinds

pytestmark = pytest.mark.proof

COLUMNS = "{id: bigint, v: bigint}"
KEEP = f"/* ---\naction: keep\nstep: ingest\ninputs: {{rows: {COLUMNS}}}\n--- */\nSELECT id, v FROM rows\n"
FLOWS = {
    "f": f"""\
flow: f
sources: {{orders: {{files: {{path: data/*.csv, columns: {COLUMNS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.warm}}
tables: {{ods.warm: {{tiers: {{warm: 30d}}}}}}
""",
    "g": f"""\
flow: g
sources: {{orders: {{files: {{path: data/*.csv, columns: {COLUMNS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.cold}}
tables: {{ods.cold: {{tiers: {{cold: forever}}}}}}
""",
}
EPOCHS = 3
TTL = timedelta(minutes=1)


def cold_table(warehouse: Path, name: str, epochs):
    """As Iceberg's Java makes it in a folder, by PyIceberg's catalog in memory."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    layer, own = name.split(".")
    catalog = InMemoryCatalog("cold", warehouse=str(warehouse))
    catalog.create_namespace(layer)
    schema = pa.schema([("id", pa.int64()), ("v", pa.int64())])
    place = warehouse / layer / own
    table = catalog.create_table(name, schema, location=str(place), properties={"format-version": "2"})
    for properties in epochs:
        table.append(pa.table({"id": [1], "v": [2]}, schema=schema), snapshot_properties=properties)
    newest = Path(table.metadata_location.removeprefix("file://"))
    newest.rename(place / "metadata" / "v1.metadata.json")
    for older in set(place.glob("metadata/0*.json")):
        older.unlink()
    (place / "metadata" / "version-hint.text").write_text("1")
    for file in [one for one in place.rglob("*") if one.is_file()]:
        checksums.record(file)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("damaged")
    files = {"actions/keep.sql": KEEP, "data/a.csv": "id,v\n1,2\n", "streamhouse.yaml": "{}\n"}
    files |= {f"flows/{name}.yaml": text for name, text in FLOWS.items()}
    for name, text in files.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    project = Project.at(root)
    with project.state() as state:
        for flow, plan in desired_plans(project).items():
            state.save_plan(plan)
            lease = state.acquire(flow, this_owner(), TTL, datetime.now(UTC))
            [segment] = plan.segments
            [table] = segment.tables.values()
            writer = writer_of(flow, segment.name, segment.steps[0])
            notes = [
                Note(epoch, epoch - 1 if epoch else None, epoch, plan.fingerprint).properties()
                for epoch in range(EPOCHS)
            ]
            if flow == "f":
                store = PaimonStore(project.warm, project.state_dir / "locks", ledger=state.stored_tables)
                store.create(table)
                for epoch, properties in enumerate(notes):
                    rows = pa.Table.from_pylist([{"id": epoch, "v": 1}], arrow_schema(table.columns))
                    store.write(table, Changes(rows), WriteContext(writer, epoch, properties=properties))
            else:
                ids = [{WRITER: writer, EPOCH: str(epoch), **one} for epoch, one in enumerate(notes)]
                cold_table(Path(project.cold), table.name, ids)
            for epoch in range(EPOCHS):
                state.begin_epoch(lease, segment.name, epoch, epoch, datetime.now(UTC))
                ends = {table.name: {"snapshot": epoch + 1}}
                state.finish_epoch(
                    lease, EpochRecord(flow, segment.name, epoch, epoch, epoch + 1, epoch + 1, ends=ends)
                )
            state.release(lease)
    return project


NEEDED = {
    "warm/ods.db/warm/schema/schema-N": ("f", Tier.WARM, "ods.warm"),
    "warm/ods.db/warm/snapshot/snapshot-N": ("f", Tier.WARM, "ods.warm"),
    "warm/ods.db/warm/manifest/manifest-list-ID-N": ("f", Tier.WARM, "ods.warm"),
    "cold/ods/cold/metadata/vN.metadata.json": ("g", Tier.COLD, "ods.cold"),
    "cold/ods/cold/metadata/snap-N-N-ID.avro": ("g", Tier.COLD, "ods.cold"),
}
"""Kind of file that tells what a table has → the flow that loses it, tier and table."""


def looked(project):
    with project.state() as state:
        return lost_tables(project, state)


def told(found):
    return [(one.flow, one.kind, one.tier, *one.tables) for one in found.lost]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_table_that_cannot_be_read_counts_as_missing(project, how):
    assert told(looked(project)) == []
    files = kinds(Path(project.warm), Path(project.cold))
    assert files.keys() > NEEDED.keys()
    for kind, (flow, *place) in NEEDED.items():
        with damaged(files[kind], how):
            found = looked(project)
        assert told(found) == [(flow, LossKind.UNREADABLE, *place)], kind
        assert (found.unseen, found.lost[0].code) == ({}, "SH400"), kind
        assert str(files[kind]) in found.lost[0].text
        folder = str(files[kind].parents[1])
        away = f"{project.state_dir}/{place[1]}.{place[0]}.damaged"
        remedy = f"move the table away and fill it again: mv {folder} {away}; streamhouse restore {flow} --from-sources"
        assert found.lost[0].hint.endswith(remedy)
    for kind in ("cold/ods/cold/metadata/version-hint.text", "warm/ods.db/warm/snapshot/LATEST"):
        with damaged(files[kind], how):
            assert told(looked(project)) == [], "others say the same"


@pytest.mark.parametrize("kind", sorted(NEEDED))
def test_a_table_whose_newest_file_is_gone_cannot_be_read(project, tmp_path, kind):
    """The one before it is whole, and is not taken for the newest one."""
    file, (flow, *place) = kinds(Path(project.warm), Path(project.cold))[kind], NEEDED[kind]
    shutil.move(file, tmp_path / file.name)
    try:
        found = looked(project)
    finally:
        shutil.move(tmp_path / file.name, file)
    assert told(found) == [(flow, LossKind.UNREADABLE, *place)]
    assert str(file) in found.lost[0].text
    assert "gone" in found.lost[0].text
    assert f"mv {file.parents[1]} " in found.lost[0].hint
    assert found.lost[0].hint.endswith(f"streamhouse restore {flow} --from-sources")


def test_a_table_all_of_whose_snapshots_are_gone_cannot_be_read(project, tmp_path):
    [folder] = Path(project.warm).rglob("snapshot")
    shutil.move(folder, tmp_path / "snapshot")
    try:
        found = looked(project)
    finally:
        shutil.move(tmp_path / "snapshot", folder)
    assert told(found) == [("f", LossKind.UNREADABLE, Tier.WARM, "ods.warm")]


def test_a_table_whose_checksums_are_damaged_too_counts_as_missing(project):
    """Files that a machine without power left empty."""
    place = Path(project.cold) / "ods" / "cold" / "metadata"
    with damaged(place / "v1.metadata.json", "emptied"), damaged(place / ".v1.metadata.json.crc", "emptied"):
        found = looked(project)
    assert told(found) == [("g", LossKind.UNREADABLE, Tier.COLD, "ods.cold")]
    seen, _, moved = found.lost[0].hint.partition("; if Spark cannot read it either, ")
    assert seen.endswith("--engine spark")
    assert f"mv {place.parent} " in moved
    assert moved.endswith("streamhouse restore g --from-sources")


def test_a_store_that_does_not_answer_is_not_looked_at(project, monkeypatch):
    def away(*_):
        raise StoreUnavailableError("it is away")

    monkeypatch.setattr(PaimonReader, "end", away)
    found = looked(project)
    assert (told(found), found.unseen) == ([], {Tier.WARM: "SH401 it is away"})


def test_a_file_that_is_there_again_at_the_second_look_is_no_loss(project, monkeypatch):
    calls, end = [], PaimonReader.end

    def once(store, table):
        calls.append(table.name)
        if len(calls) == 1:
            raise StoreError("upkeep removed it")
        return end(store, table)

    monkeypatch.setattr(PaimonReader, "end", once)
    assert told(looked(project)) == []


def test_an_error_of_a_store_names_the_damaged_tables_with_what_to_type(project):
    plans = {flow: plan for flow, plan in desired_plans(project).items() if flow == "f"}
    schema = next(Path(project.warm).rglob("schema-0"))
    with project.state() as state:
        with pytest.raises(StoreError, match=r"^SH400 it fails$"), naming_damage(project, state, plans):
            raise StoreError("it fails")
        with damaged(schema, "cut"):
            [lost] = lost_tables(project, state).lost
            with pytest.raises(StoreError) as named, naming_damage(project, state, plans):
                raise StoreError("it fails")
    assert (named.value.message, named.value.hint) == (lost.text, lost.hint)


def test_a_damaged_table_is_named_once_though_several_flows_read_it(project, monkeypatch):
    losses = [
        LostTables(flow, LossKind.UNREADABLE, Tier.WARM, ("ods.warm",), "it is damaged", "SH400", f"restore {flow}")
        for flow in ("f", "g")
    ]
    monkeypatch.setattr("streamhouse.runtime.lost_tables.lost_tables", lambda *_: SeenLosses(losses))
    with pytest.raises(StoreError) as named, naming_damage(project, None, {"f": None, "g": None}):
        raise StoreError("it fails")
    assert (named.value.message, named.value.hint) == ("it is damaged", "restore f")


def test_a_copy_that_cannot_be_read_is_filled_from_its_first_tier(project):
    one = UnreadableTable("ods.warm__v2", Tier.WARM, StoreError("ods.warm is damaged", hint="?"))
    assert remedy_for(one, project, "f", is_first=False).endswith("/ods.warm__v2.warm.damaged; streamhouse restore f")
    refused = UnreadableTable("ods.warm", Tier.WARM, StateConflictError("it is another one", hint="wait"))
    assert remedy_for(refused, project, "f", is_first=True) == "wait"


def test_what_fails_for_no_table_alone_is_a_loss_without_tables(project, monkeypatch):
    def failing(*_):
        raise StoreError("it fails", hint="mend it")
        yield

    monkeypatch.setattr("streamhouse.runtime.lost_tables.losses", failing)
    found = looked(project)
    assert told(found) == [(flow, LossKind.UNREADABLE, None) for flow in FLOWS]
    assert str(found.lost[0]) == "f: SH400 it fails; mend it"


def test_plan_and_status_end_with_6(project, monkeypatch, capsys):
    monkeypatch.chdir(project.root)
    file = next(Path(project.warm).rglob("schema-0"))
    with damaged(file, "cut"):
        for words in (["status"], ["plan", "f"]):
            assert main(words) == 6
            assert f"f: SH400 ods.warm in the warm tier is damaged: {file}" in "".join(
                capsys.readouterr().out.split("\n")
            )
        assert main(["status", "--json"]) == 6
        lost = [one["lost"] for one in json.loads(capsys.readouterr().out)["flows"]]
        assert [(one["kind"], one["tier"], one["tables"]) for one in lost[0]] == [("unreadable", "warm", ["ods.warm"])]
        assert lost[1] == []


@pytest.fixture
def autopilot(project):
    """Set the mode of the project's autopilot, for one test."""
    file = project.root / "streamhouse.yaml"
    before = file.read_text()
    yield lambda mode: file.write_text(f"autopilot: {{mode: '{mode}'}}\n")
    file.write_text(before)


LOOKS = [["trigger", "--once"], ["autopilot", "suggest"], ["autopilot", "auto", "--once"], ["autopilot", "round"]]


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_every_look_names_what_status_names_and_ends_with_6(project, autopilot, monkeypatch, capsys, words):
    monkeypatch.chdir(project.root)
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    autopilot("suggest")
    assert main(words) == 0
    assert "SH400" not in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lost"] == []
    file = next(Path(project.warm).rglob("schema-0"))
    with damaged(file, "cut"):
        assert main(["status"]) == 6
        named = capsys.readouterr().out.split("\n  ")[0].splitlines()[0]
        assert named.startswith("f: SH400 ods.warm in the warm tier is damaged")
        assert main(words) == 6
        assert named in capsys.readouterr().out
        assert main([*words, "--json"]) == 6
        document = json.loads(capsys.readouterr().out)
        assert [(one["flow"], one["kind"], one["tables"]) for one in document["lost"]] == [
            ("f", "unreadable", ["ods.warm"])
        ]
        assert document["not_looked_at"] == {}
        [text] = lost_texts(document)
        assert " ".join(text.split()).startswith(" ".join(named.split()))
        if words[-1] not in ("auto", "round"):
            assert main([*words, "g"]) == 0, "of another flow nothing is lost"


@pytest.mark.parametrize("words", LOOKS, ids=" ".join)
def test_every_look_says_which_tier_does_not_answer_and_ends_with_0(project, autopilot, monkeypatch, capsys, words):
    def away(*_):
        raise StoreUnavailableError("it is away")

    monkeypatch.chdir(project.root)
    autopilot("suggest")
    monkeypatch.setattr(PaimonReader, "end", away)
    for command in (["status"], words):
        assert main(command) == 0
        assert "the warm tier was not looked at for lost rows: SH401 it is away" in capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["not_looked_at"] == {"warm": "SH401 it is away"}


def test_a_round_of_an_autopilot_that_is_off_looks_at_nothing(project, autopilot, monkeypatch, capsys):
    monkeypatch.chdir(project.root)
    autopilot("off")
    with damaged(next(Path(project.warm).rglob("schema-0")), "cut"):
        assert main(["autopilot", "round"]) == 0
    assert "SH400" not in capsys.readouterr().out


@pytest.mark.parametrize("words", LOOKS[:3], ids=" ".join)
def test_a_look_without_the_state_store_names_it(project, monkeypatch, capsys, words):
    monkeypatch.chdir(project.root)
    monkeypatch.setenv("STREAMHOUSE_STATE", f"sqlite:///{project.root}/none.db")
    assert main(["status"]) == main(words) == 6
    told = capsys.readouterr().out
    assert told.count("it was lost") >= 2
    assert "no flow ever ran" not in told


@pytest.fixture
def beats(project, monkeypatch, capsys):
    """Gives what is printed between two looks of a command that goes on: whole, damaged twice, whole twice."""
    monkeypatch.chdir(project.root)
    file, printed = next(Path(project.warm).rglob("schema-0")), []
    whole = file.read_bytes()

    def rest(_=None):
        printed.append(capsys.readouterr().out)
        file.write_bytes(b"" if len(printed) in (1, 2) else whole)
        if len(printed) == 5:
            raise KeyboardInterrupt

    def rounds(*_):
        while True:
            yield
            rest()

    monkeypatch.setattr("streamhouse.cli.trigger.time", SimpleNamespace(sleep=rest))
    monkeypatch.setattr("streamhouse.cli.trigger._REST", 0)  # each look is one for losses, too
    monkeypatch.setattr("streamhouse.jobs.rounds.rounds", rounds)
    yield printed
    file.write_bytes(whole)


@pytest.mark.parametrize("words", [["trigger"], ["autopilot", "auto"]], ids=" ".join)
def test_a_command_that_goes_on_names_a_loss_once(beats, words):
    assert main(words) == 130
    assert [text.count("SH400 ods.warm in the warm tier is damaged") for text in beats] == [0, 1, 0, 0, 0]
