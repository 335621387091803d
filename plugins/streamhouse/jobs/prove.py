"""Proves a proposal before its files may be written: everything that a reviewer would want to have tried.

Compiling, units and keys were checked when the proposal was made. Here its examples run on Spark, its keys are looked
up in real rows, and its step runs over a sample once as one batch and in cut epochs (`jobs/trial.py`).
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from streamhouse.errors import StreamhouseError
from streamhouse.jobs.made_rows import generate_rows
from streamhouse.jobs.trial import TrialSample, try_step
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Step
from streamhouse.model.table import Table
from streamhouse.planner.proposal import Check, Proposal
from streamhouse.planner.request import Block
from streamhouse.planner.try_files import try_files, with_edits
from streamhouse.planner.workspace import Workspace
from streamhouse.registry import Registry
from streamhouse.registry.read_action import read_action
from streamhouse.sql.dialect import quote_names, render
from streamhouse.sql.values import typed_value

if TYPE_CHECKING:
    import pyarrow as pa

    from streamhouse.jobs.query import QueryService

SAMPLE_ROWS = 3_000
"""Of each table that drives the step; of others ten times as many."""

Say = Callable[[str], None]


def prove(proposal: Proposal, space: Workspace, say: Say = lambda _: None) -> tuple[Check, ...]:
    """What was tried with a proposal's files, and what came out; some 20 seconds, nothing that serves changes.

    Args:
        proposal: Proposed, with files; without a flow, the examples of its action are all that is tried.
        space: The project that it was made of.
        say: Is called with what is being waited for.
    """
    if not proposal.flow:
        return _alone(proposal, space, say)
    registry = space.registry.edited(with_edits(space.files, proposal.files))
    tried = try_files(
        space.project, space.files, proposal.files, proposal.flow, space.applied, space.plans, space.registry
    )
    step, action, flow = _step(registry, proposal)
    tables = {table.name: table for table in tried.plan.readable if table.name in _tables(step)}
    with _Rows(space, say) as rows:
        found = {name: rows.of(table, step) for name, table in tables.items()}
        checks = [*_keys(proposal, tables, rows), _examples(action, rows)]
    empty_tables = [name for name, table_rows in found.items() if table_rows is None]
    if empty_tables:  # all of them, so that rows find their partners
        found = {**generate_rows(tables.values(), space.catalog, _constants(action, step))}
    samples = {
        name: TrialSample(tables[name], table_rows) for name, table_rows in found.items() if table_rows is not None
    }
    text = registry.files[action.at.file].text()
    checks.append(_trial(space, step, action, text, flow, samples, empty_tables, say))
    return tuple(checks)


def _alone(proposal: Proposal, space: Workspace, say: Say) -> tuple[Check, ...]:
    with _Rows(space, say) as rows:
        return tuple(_examples(read_action(edit.after, edit.path).action, rows) for edit in proposal.files)


def _step(registry: Registry, proposal: Proposal) -> tuple[Step, Action, Flow]:
    flow = registry.flow(proposal.flow)
    step = next(step for step in flow.steps if step.writes == proposal.table)
    return step, registry.action(step.use), flow


def _tables(step: Step) -> frozenset[str]:
    return frozenset(read.table for read in step.reads.values())


def _trial(
    space: Workspace,
    step: Step,
    action: Action,
    text: str,
    flow: Flow,
    samples: Mapping[str, TrialSample],
    empty_tables: list[str],
    say: Say,
) -> Check:
    table_settings = flow.tables.get(step.writes)
    options = (
        table_settings.model_dump(mode="json", exclude_unset=True, exclude={"tiers", "ai"})
        if table_settings is not None
        else {}
    )
    trial = try_step(space.project, step, action, text, samples, options, say)
    rows = f" (made-up rows: {', '.join(sorted(empty_tables))} has none yet)" if empty_tables else ""
    if trial.passed and not trial.rows:
        return Check(name="epochs", verdict="notice", text=f"{trial}; no row of the sample meets the filters{rows}")
    return Check(name="epochs", verdict="passed" if trial.passed else "failed", text=f"{trial}{rows}")


def _keys(proposal: Proposal, tables: Mapping[str, Table], rows: "_Rows") -> list[Check]:
    """Whether what is joined has each key once, in the rows that are there."""
    checks = []
    for table, on in _joins(proposal.request.block if proposal.request is not None else None):
        if table not in tables or set(tables[table].primary_key) <= set(on):
            continue  # the store keeps each key once
        doubled = rows.doubled(table, on)
        if doubled is None:
            checks.append(
                Check(name="keys", verdict="skipped", text=f"{table} has no rows to look for doubled keys in")
            )
        elif doubled:
            text = f"{table} has {', '.join(on)} = {doubled} more than once: a join would count rows several times"
            checks.append(Check(name="keys", verdict="failed", text=text))
        else:
            checks.append(Check(name="keys", verdict="passed", text=f"{table} has each {', '.join(on)} once"))
    return checks


def _joins(block: Block | None) -> list[tuple[str, tuple[str, ...]]]:
    if block is None:
        return []
    return [*((join.table, tuple(join.on.values())) for join in block.joins), *_joins(block.inner)]


def _examples(action: Action, rows: "_Rows") -> Check:
    from streamhouse.jobs.examples import run_examples

    if not action.examples:
        return Check(name="examples", verdict="skipped", text="the action has none")
    wrong = [one for one in run_examples(rows.spark(), action) if not one.passed]
    if wrong:
        return Check(name="examples", verdict="failed", text=wrong[0].error or "other rows came out than were expected")
    return Check(name="examples", verdict="passed", text=f"{len(action.examples)} ran on Spark")


def _constants(action: Action, step: Step) -> list[Any]:
    arguments = {name: step.params.get(name, parameter.default) for name, parameter in action.params.items()}
    return [typed_value(value, action.params[name].type) for name, value in arguments.items() if value is not None]


class _Rows:
    """Rows of the project's tables, as far as there are any."""

    def __init__(self, space: Workspace, say: Say) -> None:
        self._space = space
        self._say = say
        self._asking: QueryService | None = None

    def __enter__(self) -> "_Rows":
        from streamhouse.jobs.query import QueryService

        self._asking = QueryService(self._space.project, None, self._say).__enter__()
        return self

    def __exit__(self, *why: object) -> None:
        if self._asking is not None:
            self._asking.__exit__(*why)

    def spark(self) -> Any:
        """A session for examples."""
        assert self._asking is not None
        return self._asking.session()

    def of(self, table: Table, step: Step) -> "pa.Table | None":
        """Some rows; None: there are none, or they cannot be read."""
        drives = any(read.table == table.name and read.mode.value == "changes" for read in step.reads.values())
        columns = [exp.column(column.name) for column in table.columns]
        tree = exp.select(*columns).from_(_named(table.name)).limit(SAMPLE_ROWS if drives else 10 * SAMPLE_ROWS)
        rows = self._query(tree)
        return rows if rows is not None and rows.num_rows else None

    def doubled(self, table: str, on: tuple[str, ...]) -> str | None:
        """A key that several rows have; empty: none has; None: there are no rows."""
        keys = [exp.column(name) for name in on]
        count = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(1))
        tree = exp.select(*keys).from_(_named(table)).group_by(*[key.copy() for key in keys]).having(count).limit(1)
        rows = self._query(tree)
        if rows is None:
            return None
        return ", ".join(str(value) for row in rows.to_pylist() for value in row.values())

    def _query(self, tree: exp.Select) -> "pa.Table | None":
        assert self._asking is not None
        if not self._space.applied.flows:
            return None
        quote_names(tree)
        try:
            return self._asking.ask(render(tree)).rows
        except StreamhouseError:  # it is new, or its tier cannot be read now
            return None


def _named(table: str) -> exp.Table:
    layer, _, name = table.partition(".")
    return exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(layer))


__all__ = ["SAMPLE_ROWS", "prove"]
