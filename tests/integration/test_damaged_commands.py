"""A damaged file of each kind in a project at rest: a command gives what it gave before, or an error with a code.

The first test damages a file, asks every command that only reads, and puts the file back. The second lets commands that
write go on from the damage: after them every table equals the batch, or a command named what is wrong. The others do
what the hint of a damaged table says, also where files are gone: then every table equals the batch.
"""

import re
import subprocess
from typing import NamedTuple

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import StateConflictError, StoreError, StreamhouseError
from streamhouse.jobs.query import QueryService
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.lost_tables import LossKind, lost_tables
from streamhouse.state.troubles import RESTORE
from tests.damage import DAMAGES, damage, damaged, kinds
from tests.drills import ORDERS, drill
from tests.gate.levels import deep, soak

pytestmark = [pytest.mark.spark, deep("each kind of file, damage and command; the tests of each store keep some")]

FLOWS = {
    "f": f"""\
flow: f
freshness: 100ms
sources: {{orders: {{files: {{path: data/*.csv, columns: {ORDERS}}}}}}}
steps:
  - {{use: keep, reads: {{rows: orders}}, writes: ods.one}}
  - {{use: valid, reads: {{rows: ods.one}}, writes: dwd.two}}
  - {{use: spent, reads: {{rows: ods.one}}, writes: dws.three, strategy: recompute}}
  - {{use: copy, reads: {{rows: ods.one}}, writes: dwd.four}}
  - {{use: valid, reads: {{rows: ods.one}}, writes: dwd.five}}
tables:
  ods.one: {{tiers: {{warm: 30d}}}}
  dwd.two: {{tiers: {{warm: 30d}}}}
  dws.three: {{tiers: {{cold: forever}}}}
  dwd.four: {{tiers: {{cold: forever}}}}
  dwd.five: {{tiers: {{warm: 7d, cold: forever}}}}
"""
}
QUERIES = (
    "SELECT * FROM ods.one ORDER BY order_id, cents",
    "SELECT count(*) AS n, max(cents) AS most FROM dwd.two WHERE order_id > 3",
    "SELECT customer, cents FROM dws.three ORDER BY customer",
    "SELECT order_id, tax FROM dwd.four ORDER BY order_id, tax",
    "SELECT t.order_id, c.cents FROM dwd.five t JOIN dws.three c ON t.customer = c.customer ORDER BY 1",
)
BY_SPARK = ("dwd.two", "dwd.four")
BY_OURSELVES = (
    ("status",),
    ("status", "--json"),
    ("plan", "f"),
    ("lineage", "dws.three"),
    ("lineage", "dws.three", "--json"),
    *(("query", sql, "--json") for sql in QUERIES),
)
READS = (
    *BY_OURSELVES,
    *(("query", f"SELECT * FROM {table} ORDER BY ALL", "--json", "--engine", "spark") for table in BY_SPARK),
)
CODE = re.compile(r"\bSH(?!000)\d{3}\b")
PROGRESS = ("running the query", "starting Spark")  # shown where it takes long
LOST = 6  # the exit code of `plan` and `status` where something is lost
_SECONDS = re.compile(r'"seconds": [\d.e-]+')


@pytest.fixture(scope="module")
def project(tmp_path_factory, spark):
    """Three epochs, two of them tiered; at rest."""
    with drill(tmp_path_factory.mktemp("damaged") / "project", spark, FLOWS) as d:
        cold = str(d._cold)
        (d.root / "streamhouse.yaml").write_text(f"auto_apply: all\ncold: {{warehouse: {cold}}}\n")
        d.project = Project(d.root, Settings.model_validate({"auto_apply": "all", "cold": {"warehouse": cold}}))
        d.begin()
        for _ in range(3):
            d.add()
            d.run()
            d.tier()
        assert d.differences() == {}
        d.end()
        d.save("now")
        yield d


@pytest.fixture
def ask(project, spark, monkeypatch, capsys):
    """The exit code of a command, and all that it prints."""
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(QueryService, "_session", lambda service: setattr(service, "_spark", spark) or spark)

    def asked(words):
        capsys.readouterr()
        code = main([*words])
        lines = _SECONDS.sub("", "".join(capsys.readouterr())).splitlines()
        return code, [line for line in lines if line not in PROGRESS]

    return asked


def wrong(code, lines, right):
    """What is wrong with an answer; None: it is the right one, or an error with a code."""
    text = "\n".join(lines)
    if "Traceback" in text or "SH000" in text:
        return text
    if code == right[0]:
        return None if same(lines, right[1]) else text
    if code == LOST and "streamhouse restore" in text:
        return None
    return None if CODE.search(text) else f"exit code {code} without a code: {text}"


def same(lines, right):
    """Lines that tell how long ago something was are None in the right ones."""
    return len(lines) == len(right) and all(
        line == wanted for line, wanted in zip(lines, right, strict=True) if wanted is not None
    )


def steady(ask, words):
    """What a command says, without the lines that are others each time."""
    (code, first), (_, second) = ask(words), ask(words)
    assert len(first) == len(second), (first, second)
    return code, [one if one == other else None for one, other in zip(first, second, strict=True)]


def files_of(d):
    return kinds(d.folder, d._cold)


def is_of_a_lake(kind):
    """Spark reads no other files, and takes long."""
    return not kind.startswith(".streamhouse/") or kind.startswith(".streamhouse/warm/")


def composed(d):
    for file in range(3, d.files):
        (d.root / "data" / f"{file:04}.csv").unlink()
    d.files = 3
    d.compose({}, "now")
    return d


@pytest.mark.parametrize("how", [pytest.param(how, marks=soak if how == "emptied" else ()) for how in DAMAGES])
def test_every_command_that_reads_is_right_or_an_error(project, ask, how):
    composed(project)
    right = {words: steady(ask, words) for words in READS}
    assert {words: code for words, (code, _) in right.items() if code} == {}
    found = {}
    chosen = files_of(project)
    for kind, file in chosen.items():
        with damaged(file, how):
            for words in READS if is_of_a_lake(kind) else BY_OURSELVES:
                if (text := wrong(*ask(words), right[words])) is not None:
                    found[f"{kind}: {' '.join(words)}"] = text
    assert {words: wrong(*ask(words), right[words]) for words in READS} == dict.fromkeys(READS), "all is whole again"
    assert not found, "\n".join(f"{where}\n  {text}" for where, text in found.items())
    assert len(chosen) > 15, sorted(chosen)


def left_wrong(d, command):
    """What is wrong after a command that writes; None: tables equal the batch, or it is said what they lack."""
    d.begin()
    try:
        getattr(d, command)()
        named = {one.table for one in d.open.state.troubles.current() if one.job == RESTORE}
        found = {name: text for name, text in d.differences().items() if not CODE.search(text)}
        return {name: text for name, text in found.items() if name.split()[0] not in named} or None
    except StreamhouseError as error:
        return None if CODE.search(str(error)) else repr(error)
    except Exception as error:  # noqa: BLE001  one of any library would be SH000
        return repr(error)
    finally:
        d.end()


@pytest.mark.parametrize(
    ("how", "command"),
    [
        pytest.param(how, command, marks=() if (how, command) == ("flipped", "restore") else soak)
        for how in DAMAGES
        for command in ("tier", "restore")
    ],
)
def test_what_a_command_that_writes_leaves_is_right_or_named(project, how, command):
    found = {}
    for kind in files_of(composed(project)):
        damage(files_of(composed(project))[kind], how)
        if (text := left_wrong(project, command)) is not None:
            found[f"{kind} {how}"] = text
    assert found == {}


def losses(d):
    """What `plan` and `status` see."""
    with d.project.existing_state() as state:
        return lost_tables(d.project, state).lost


PLACES = {
    "the first tier, warm": ("ods.one", Tier.WARM, "schema/schema-0"),
    "the first tier, cold": ("dws.three", Tier.COLD, "metadata/v*.metadata.json"),
    "a copy": ("dwd.five", Tier.COLD, "metadata/v*.metadata.json"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_damaged_table_comes_back_when_its_folder_is_moved_away(project, place):
    d, (table, tier, pattern) = composed(project), PLACES[place]
    layer, name = table.split(".")
    folder = d.folder / "warm" / f"{layer}.db" / name if tier is Tier.WARM else d._cold / layer / name
    for file in folder.glob(pattern):
        damage(file, "emptied")
    [lost] = losses(d)
    assert (lost.kind, lost.tier, lost.tables) == (LossKind.UNREADABLE, tier, (table,))
    *_, move, restore = lost.hint.replace("again: ", "again; ").split("; ")
    assert move.split()[:2] == ["mv", str(folder)]
    d.begin()
    try:
        with pytest.raises(StoreError) as refused:
            d.restore(from_sources=True)
        assert (refused.value.message, refused.value.hint) == (lost.text, lost.hint)
    finally:
        d.end()
    subprocess.run(move, shell=True, check=True)
    d.begin()
    try:
        d.add()
        assert restore == f"streamhouse restore f{'' if place == 'a copy' else ' --from-sources'}"
        if place != "a copy":
            with pytest.raises(StateConflictError, match="restore f --from-sources"):
                d.restore()
        d.restore(from_sources=place != "a copy")
        d.run()
        d.tier()
        assert d.differences() == {}
    finally:
        d.end()
    assert losses(d) == []


def newest_of(files):
    return max(files, key=lambda file: int(re.search(r"\d+", file.name)[0]), default=None)


class Gone(NamedTuple):
    """Files of the folder of a table that are gone: the newest of some, and all of others."""

    table: str
    tier: Tier
    newest: str | None = None
    every: str | None = None
    is_emptied: bool = False
    """Whether they are still there, without a byte."""


GONE = {
    "the newest snapshot of a first tier, warm": Gone("ods.one", Tier.WARM, newest="snapshot/snapshot-*"),
    "that snapshot and the hint of it": Gone(
        "ods.one", Tier.WARM, newest="snapshot/snapshot-*", every="snapshot/LATEST"
    ),
    "all snapshots of a first tier, warm": Gone("ods.one", Tier.WARM, every="snapshot/*"),
    "the first schema of a first tier, warm": Gone("ods.one", Tier.WARM, every="schema/schema-0"),
    "the newest metadata of a first tier, cold": Gone("dws.three", Tier.COLD, newest="metadata/v*.metadata.json"),
    "all metadata of a first tier, cold": Gone("dws.three", Tier.COLD, every="metadata/*"),
    "what the metadata and their checksums say": Gone(
        "dws.three", Tier.COLD, every="metadata/*metadata.json*", is_emptied=True
    ),
    "the newest metadata of a copy": Gone("dwd.five", Tier.COLD, newest="metadata/v*.metadata.json"),
    "all metadata of a copy": Gone("dwd.five", Tier.COLD, every="metadata/*"),
}
_MOVED = re.compile(r"mv \S+ \S+")
_TYPED = re.compile(r"streamhouse restore f(?: --from-sources)?")


@pytest.mark.parametrize("what", [next(iter(GONE)), *(pytest.param(what, marks=soak) for what in [*GONE][1:])])
def test_a_table_whose_files_are_gone_comes_back_by_the_commands_that_are_named(project, what):
    d, gone = composed(project), GONE[what]
    layer, name = gone.table.split(".")
    folder = d.folder / "warm" / f"{layer}.db" / name if gone.tier is Tier.WARM else d._cold / layer / name
    newest = [newest_of(folder.glob(gone.newest))] if gone.newest else []
    for file in [*newest, *(folder.glob(gone.every) if gone.every else [])]:
        if gone.is_emptied:
            file.write_bytes(b"")
        else:
            file.unlink()
    [lost] = losses(d)
    assert (lost.tier, lost.tables) == (gone.tier, (gone.table,))
    d.begin()
    try:
        goes_on = d.tier if gone.table == "dwd.five" else d.run
        assert CODE.search(str(refused(goes_on))), "nothing goes on from an older one"
        for move in _MOVED.findall(lost.hint):
            subprocess.run(move, shell=True, check=True)
        typed = _TYPED.findall(lost.hint)[0]
        d.restore(from_sources="--from-sources" in typed)
        d.add()
        d.run()
        d.tier()
        assert d.differences() == {}
    finally:
        d.end()
    assert losses(d) == []


def refused(do):
    with pytest.raises(StreamhouseError) as error:
        do()
    return error.value
