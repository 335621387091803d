"""Tries a step before it serves: a sample of rows, as one batch and in cut epochs, must give equal tables.

It runs in a project of its own below `.streamhouse/trials/`, with a real Spark and real warm tables, and touches
nothing that serves. Rows of a keyed input come twice: some have other values first and are updated in a later epoch.
"""

import shutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import yaml

from streamhouse.engine.expectations import judge, with_flags
from streamhouse.errors import StreamhouseError
from streamhouse.jobs.example_rows import comparable
from streamhouse.jobs.progress import Summary
from streamhouse.jobs.run import run_flows
from streamhouse.model.action import Action
from streamhouse.model.flow import Step
from streamhouse.model.table import Table
from streamhouse.model.types import ReadMode
from streamhouse.project.edits import to_run
from streamhouse.project.project import Project
from streamhouse.sql.bind import bind, render

if TYPE_CHECKING:
    import pyarrow as pa

EPOCHS = 3
"""How many parts a sample is cut into, at least."""

_FLOW = "trial"
_UPDATED_EACH = 7  # one row of so many of a keyed input has other values first
_SHOWN = 3
_TAKE_ALL = """\
/* ---
action: take_all
step: ingest
inputs: {rows: {}}
output: {extra_columns: pass}
--- */
SELECT * FROM rows
"""

Row = tuple[Any, ...]


@dataclass(frozen=True)
class TrialSample:
    """Rows of one table that a step reads.

    Attributes:
        table: As its own flow knows it.
        rows: With the columns of the table; of a keyed table at most one row of each key.
    """

    table: Table
    rows: "pa.Table"


@dataclass(frozen=True)
class Trial:
    """What a trial found.

    Attributes:
        epochs: How many ran.
        read: Rows of the samples.
        rows: Of the result, as one batch.
        only_batch: Some rows that only the batch gave, as text; empty: none.
        only_epochs: The same of the epochs.
        error: Why it did not run to its end; empty: it did.
        seconds: How long it took.
    """

    epochs: int = 0
    read: int = 0
    rows: int = 0
    only_batch: tuple[str, ...] = ()
    only_epochs: tuple[str, ...] = ()
    error: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether several epochs gave what one batch gives."""
        return not self.error and not self.only_batch and not self.only_epochs and self.epochs >= EPOCHS

    def __str__(self) -> str:
        """One sentence for a person."""
        if self.error:
            return f"the trial failed: {self.error}"
        if self.epochs < EPOCHS:
            return f"the sample of {self.read:,} rows is too small for {EPOCHS} epochs"
        if self.only_batch or self.only_epochs:
            rows = [f"only in the batch: {row}" for row in self.only_batch]
            rows += [f"only in the epochs: {row}" for row in self.only_epochs]
            return "epochs and batch differ; " + "; ".join(rows)
        return f"{self.read:,} rows in {self.epochs} epochs and as one batch: the same {self.rows:,} rows"


def try_step(
    project: Project,
    step: Step,
    action: Action,
    text: str,
    samples: Mapping[str, TrialSample],
    table: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Trial:
    """Run a step over samples of what it reads, in epochs and as one batch, and compare; some 20 seconds.

    Args:
        project: Only its folder for state is used.
        step: As a flow has it.
        action: That it uses.
        text: The whole file of the action.
        samples: Table that the step reads → rows.
        table: What the flow's `tables:` says of the result, without tiers.
        say: Is called with what is being waited for.
    """
    begun = monotonic()
    folder = project.state_dir / "trials" / uuid4().hex[:12]
    try:
        trial = _Scratch(folder, step, action, text, samples, dict(table or {})).run(say)
    except StreamhouseError as error:
        trial = Trial(read=_count(samples), error=str(error).splitlines()[0])
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Trial(**{**vars(trial), "seconds": monotonic() - begun})


def _count(samples: Mapping[str, TrialSample]) -> int:
    return sum(one.rows.num_rows for one in samples.values())


class _Scratch:
    """A project that has one step, its inputs as files, and nothing else."""

    def __init__(
        self,
        folder: Path,
        step: Step,
        action: Action,
        text: str,
        samples: Mapping[str, TrialSample],
        options: dict[str, Any],
    ) -> None:
        self._folder = folder
        self._step = step
        self._action = action
        self._text = text
        self._samples = samples
        self._options = options

    def run(self, say: Callable[[str], None]) -> Trial:
        import pyarrow.parquet as pq

        self._write_actions()
        read, total = 0, 0
        for name, sample in self._samples.items():
            rows = _with_updates(sample) if self._changes(name) else sample.rows
            pq.write_table(rows, self._folder / "rows" / f"{_plain(name)}.parquet")
            read += rows.num_rows if self._changes(name) else 0
            total += sample.rows.num_rows
        (self._folder / "flows" / f"{_FLOW}.yaml").write_text(yaml.safe_dump(self._flow(read), sort_keys=False))
        project = Project.at(self._folder)
        say("trying it in epochs")
        done = run_flows(project, [_FLOW], once=True)[0]
        assert isinstance(done, Summary)  # one flow alone raises instead
        say("trying it as one batch")
        return self._compared(project, done.epochs, total)

    def _changes(self, table: str) -> bool:
        return any(read.table == table and read.mode is ReadMode.CHANGES for read in self._step.reads.values())

    def _write_actions(self) -> None:
        for part in ("actions", "flows", "rows"):
            (self._folder / part).mkdir(parents=True)
        (self._folder / "streamhouse.yaml").write_text("spark: {master: 'local[2]'}\nauto_apply: all\n")
        (self._folder / "actions" / "take_all.sql").write_text(_TAKE_ALL)
        (self._folder / "actions" / f"{self._action.action}.sql").write_text(self._text)

    def _flow(self, read: int) -> dict[str, Any]:
        return {
            "flow": _FLOW,
            "commit_interval": "1s",
            "max_rows_per_epoch": max(1, ceil(read / EPOCHS)),
            "sources": {
                _plain(name): {"files": {"path": f"rows/{_plain(name)}.parquet", "columns": _types(sample.table)}}
                for name, sample in self._samples.items()
            },
            "steps": [
                *(
                    {"use": "take_all", "reads": {"rows": _plain(name)}, "writes": f"ods.{_plain(name)}"}
                    for name in self._samples
                ),
                self._tried_step(),
            ],
            "tables": self._tables(),
        }

    def _tried_step(self) -> dict[str, Any]:
        return {
            "use": self._step.use.partition("@")[0],
            "reads": {
                port: {"table": f"ods.{_plain(one.table)}", "as": one.mode.value}
                for port, one in self._step.reads.items()
            },
            "writes": self._step.writes,
            **({"with": self._step.params} if self._step.params else {}),
            **({"strategy": self._step.strategy.value} if self._step.strategy else {}),
        }

    def _tables(self) -> dict[str, Any]:
        warm = {"warm": "forever"}
        inputs = {f"ods.{_plain(name)}": sample.table for name, sample in self._samples.items()}
        return {
            **{
                name: {"tiers": warm, **({"primary_key": list(one.primary_key)} if one.primary_key else {})}
                for name, one in inputs.items()
            },
            self._step.writes: {**self._options, "tiers": warm},
        }

    def _compared(self, project: Project, epochs: int, read: int) -> Trial:
        from streamhouse.jobs.query import QueryService

        plan = to_run(project, _FLOW).plan
        planned = next(one for one in plan.steps if one.writes.name == self._step.writes)
        with project.state() as state:  # clock functions tell the time of the last epoch
            at_ms = max(record.at_ms for record in state.recent_epochs(_FLOW))
        query = with_flags(bind(planned.sql, {one.port: one.table for one in planned.reads}, at_ms), planned.expect)
        with QueryService(project) as asking:
            batch = judge(planned, asking.ask(render(query)).rows).valid_rows
            columns = ", ".join(f"`{name}`" for name in batch.column_names)
            stored = asking.ask(f"SELECT {columns} FROM {self._step.writes}").rows
        expected, found = _rows(batch), _rows(stored.select(batch.column_names))
        return Trial(epochs, read, batch.num_rows, _some(expected - found, batch), _some(found - expected, batch))


def _plain(name: str) -> str:
    return name.replace(".", "_")


def _types(table: Table) -> dict[str, str]:
    return {column.name: column.type for column in table.columns}


def _with_updates(sample: TrialSample) -> "pa.Table":
    """The rows; of a keyed table some come first with the values of their neighbours."""
    import pyarrow as pa

    key, rows = sample.table.primary_key, sample.rows
    values = [name for name in rows.column_names if name not in key]
    if not key or not values or rows.num_rows < 2:
        return rows
    chosen = list(range(0, rows.num_rows, _UPDATED_EACH))
    others = [(place + 1) % rows.num_rows for place in chosen]
    old, neighbours = rows.take(chosen), rows.take(others)
    before = pa.table([(neighbours if name in values else old)[name] for name in rows.column_names], schema=rows.schema)
    return pa.concat_tables([before, rows])


def _rows(table: "pa.Table") -> Counter[Row]:
    columns: Sequence[list[Any]] = [column.to_pylist() for column in table.columns]
    return Counter(tuple(comparable(value) for value in row) for row in zip(*columns, strict=True))


def _some(rows: Counter[Row], table: "pa.Table") -> tuple[str, ...]:
    shown = [dict(zip(table.column_names, row, strict=True)) for row in list(rows)[:_SHOWN]]
    return tuple(str(row) for row in shown)


__all__ = ["EPOCHS", "Trial", "TrialSample", "try_step"]
