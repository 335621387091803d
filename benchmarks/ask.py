"""CPU seconds of asking without a model: the reading of a wish over many tables, and the whole command.

    python benchmarks/ask.py [--actions 1000] [--flows 200] [--times 5]

`reading` is the function that reads a wish, over a catalog of one table for each action; the first wish also builds
the index of its words. `command` is `streamhouse ask` as a person starts it, in a project of so many flows with five
actions each and five that all share: processor seconds of the process, with Python and its imports, the best of a few.
A project is asked in the state in which `validate` leaves it. `a page` is one process that answers wish after wish, as
the page and the MCP server do: the second wish, files unchanged, and one after an edit of an action.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from planner_scale import write_project

from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable, ForeignKey
from streamhouse.planner.understand import understand

_TRADES = ("order", "visit", "parcel", "ticket", "sensor", "invoice", "claim", "route", "loan", "permit")
_WISHES = (
    "number of {thing} events per city in March 2025",
    "average amount of {thing} events per month for open status",
    "top 5 cities by number of {thing} events, without the cancelled ones",
)
_WISH = "number of priced 7 per brand"
_ENTRY = "from streamhouse.cli.main import entry; entry()"
_IMPORTS = (
    "import streamhouse.cli.main, streamhouse.cli.ask, streamhouse.jobs.ask, streamhouse.jobs.ask_model,"
    " streamhouse.planner.understand, streamhouse.project.cache.compiled"
)
_MOST_CPU_S = 1.0


def catalog(actions: int) -> Catalog:
    """So many tables, in pairs: things with a city, and events that point to them."""
    tables: dict[str, CatalogTable] = {}
    keys: list[ForeignKey] = []
    for number in range((actions + 1) // 2):
        thing = f"{_TRADES[number % len(_TRADES)]}{'abcdefghij'[number // 10 % 10]}{'klmnopqrst'[number // 100 % 10]}"
        owner, events = f"ods.{thing}_points", f"dwd.{thing}_events"
        key = f"{thing}_point_id"
        columns = (CatalogColumn(key, "bigint"), CatalogColumn("city", "string", values={"Oslo": (), "Rome": ()}))
        tables[owner] = CatalogTable(owner, "flow", f"take_{thing}", columns, (key,), description=f"Points of {thing}.")
        tables[events] = CatalogTable(
            events, "flow", f"clean_{thing}",
            (
                CatalogColumn("event_id", "bigint"),
                CatalogColumn(key, "bigint", references=(owner, key)),
                CatalogColumn("happened_at", "timestamp", description="when it happened"),
                CatalogColumn("amount_cents", "bigint", unit="cents", synonyms=("amount",)),
                CatalogColumn("status", "string", values={"O": ("open",), "X": ("cancelled",), "D": ("done",)}),
            ),
            ("event_id",), "happened_at", description=f"What happened with each {thing}.",
        )  # fmt: skip
        keys.append(ForeignKey(events, (key,), owner, (key,), declared=True))
    return Catalog(tables, tuple(keys))


def command(folder: Path, times: int) -> None:
    """Print what the whole command costs, and how much of it is Python that imports what it needs."""
    _run(folder, _ENTRY, "validate")  # writes bytecode and fills the cache of the project
    asked = min(_run(folder, _ENTRY, "ask", _WISH) for _ in range(times))
    imports = min(_run(folder, _IMPORTS) for _ in range(times))
    met = "met" if asked <= _MOST_CPU_S else "MISSED"
    print(f"command: {asked:.2f} s CPU, {imports:.2f} of it imports; ≤ {_MOST_CPU_S:g} s {met}", flush=True)


def page(folder: Path) -> None:
    """Print what wishes cost in a process that stays."""
    from streamhouse.jobs.ask import ask
    from streamhouse.project.project import Project

    project = Project.at(folder)

    def asked() -> float:
        begin = time.process_time()
        ask(project, _WISH, keep=False)
        return time.process_time() - begin

    first, second = asked(), min(asked() for _ in range(3))
    file = folder / "actions" / "priced_7.sql"
    file.write_text(file.read_text().replace("cents DIV", "(cents + 1) DIV"))
    print(f"a page: first wish {first:.2f} s CPU, the next {second:.2f} s, after an edit {asked():.2f} s", flush=True)


def _run(folder: Path, code: str, *words: str) -> float:
    """Processor seconds of a Python process."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(folder / "bytecode")
    with tempfile.TemporaryFile() as output:
        started = subprocess.Popen([sys.executable, "-c", code, *words], cwd=folder, env=environment, stdout=output)
        _, status, used = os.wait4(started.pid, 0)
        started.returncode = os.waitstatus_to_exitcode(status)
    if started.returncode:
        raise SystemExit(f"{' '.join(words)}: exit code {started.returncode}")
    return used.ru_utime + used.ru_stime


def reading(actions: int) -> None:
    """Print CPU seconds of the first wish that is read, and of wishes over an index that is there."""
    known = catalog(actions)
    spent, read = [], 0
    for wish in (text.format(thing=f"{trade}ak") for trade in _TRADES for text in _WISHES):
        begin = time.process_time()
        read += understand(wish, known).request is not None
        spent.append(time.process_time() - begin)
    first, rest = spent[0], sorted(spent[1:])
    print(f"reading, {len(known.tables)} tables: first wish {first:.2f} s CPU, with its index")
    median, most = rest[len(rest) // 2] * 1000, rest[-1] * 1000
    print(f"later wishes: median {median:.0f} ms CPU, most {most:.0f} ms, {read} of {len(spent)} read", flush=True)


def main() -> None:
    """Print CPU seconds of reading wishes, of the command, and of a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--actions", type=int, default=1000)
    parser.add_argument("--flows", type=int, default=200)
    parser.add_argument("--times", type=int, default=5)
    given = parser.parse_args()
    reading(given.actions)
    folder = Path(tempfile.mkdtemp())
    try:
        project = folder / "project"
        write_project(project, [[number] for number in range(given.flows)])
        print(f"{len(list((project / 'actions').iterdir()))} actions in {given.flows} flows")
        command(project, given.times)
        page(project)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
