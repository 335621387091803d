"""Which queries of a folder are kept up to date without computing all of them, and what stands in the way.

    python scripts/coverage.py FOLDER SCHEMA.json

FOLDER has one query in each `.sql` file. SCHEMA.json is `{table: {"columns": {name: type}, "key": [name]}}`. The
primary key of a result is the one that its GROUP BY shows, else all its columns.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.delta_plan import DeltaPlan
from streamhouse.model.table import Column
from streamhouse.model.types import ReadMode, Strategy
from streamhouse.sql.classify import Classification, classify
from streamhouse.sql.delta.kinds import KEYS
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.ports import ActionPort
from streamhouse.sql.rows import InputInfo
from streamhouse.sql.schema import analyse

Schema = dict[str, dict[str, dict[str, str]]]


class Found(NamedTuple):
    """How one query is kept up to date.

    Attributes:
        name: Of its file.
        strategy: The name of the strategy, or `refused`.
        reason: Of the strategy, or of the refusal.
        whole: Ports whose changes compute all.
    """

    name: str
    strategy: str
    reason: str
    whole: tuple[str, ...] = ()

    @property
    def incremental(self) -> bool:
        """Whether no change of any input computes all."""
        return self.strategy not in ("full", "refused") and not self.whole


def coverage(folder: Path, schema: Schema) -> Iterator[Found]:
    """Each query of a folder."""
    for file in sorted(folder.glob("*.sql")):
        try:
            found = classified(file.read_text().strip().rstrip(";"), schema)
        except StreamhouseError as error:
            yield Found(file.stem, "refused", str(error))
            continue
        yield Found(file.stem, str(found[0].strategy), found[0].reason, found[1])


def classified(sql: str, schema: Schema) -> tuple[Classification, tuple[str, ...]]:
    """How a query over tables of a schema is kept up to date, and the ports whose changes compute all.

    Raises:
        StreamhouseError: the compiler refuses it.
    """
    at = Location("")
    tree = parse_query(sql, at)
    _name_columns(tree)
    used = sorted({table.name.lower() for table in tree.find_all(exp.Table)} & set(schema))
    columns = {name: tuple(Column(name=c, type=t) for c, t in schema[name]["columns"].items()) for name in used}
    ports = {name: ActionPort(columns[name], {}, key=tuple(schema[name]["key"])) for name in used}
    query = analyse(tree, ports, sql, at)
    inputs = {
        name: InputInfo(not schema[name]["key"], ReadMode.CHANGES, tuple(schema[name]["key"])) for name in query.reads
    }
    found: dict[tuple[str, ...], Classification] = {}
    every = [column.name for column in query.columns if column.type.split("(")[0] in KEYS]
    for key in ((), tuple(every)):
        try:
            found[key] = classify(query, inputs, primary_key=key, at=at)
        except StreamhouseError:
            if key:
                raise
    best = min(found.values(), key=lambda one: one.strategy is Strategy.FULL)
    plan = best.delta
    return best, () if plan is None else tuple(_whole(plan))


def _whole(plan: DeltaPlan) -> Iterator[str]:
    """What is read where its changes compute all."""
    blocks = {stage.name: stage.plan for stage in plan.stages} | {"the result": plan}
    for name, block in blocks.items():
        ports = block.ports or {port: port for port in {*block.linear, *(p for link in block.links for p in link)}}
        yield from (f"{of} in {name}" for port, of in ports.items() if not block.follows(port))


def _name_columns(tree: exp.Query) -> None:
    """Name the columns of a result that have no name, or one that another has: a table needs that."""
    names: set[str] = set()
    for number, item in enumerate(tree.selects):
        if isinstance(item, exp.Star) or item.is_star:
            continue
        if not item.alias_or_name or item.alias_or_name.lower() in names:
            item.replace(exp.alias_(item.unalias().copy(), f"column_{number}"))
        names.add(item.alias_or_name.lower())


def lines(every: list[Found]) -> Iterator[str]:
    """Each query, and what stands in the way how often."""
    for one in every:
        whole = f"  (all is computed for changes of {', '.join(one.whole)})" if one.whole else ""
        yield f"{one.name}: {one.strategy}{whole}\n    {one.reason}"
    yield ""
    for strategy, number in Counter(one.strategy for one in every).most_common():
        yield f"{number:4} {strategy}"
    yield f"{sum(one.incremental for one in every):4} of {len(every)} compute all for no change of an input"


if __name__ == "__main__":
    folder, schema = map(Path, sys.argv[1:])
    found = list(coverage(folder, json.loads(schema.read_text())))
    sys.stdout.write("\n".join([*lines(found), ""]))
