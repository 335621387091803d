"""What there is already: a table that holds the answer, and an action that gives it with other values.

Both are proven by canonical forms; what these do not follow counts as another answer.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, permutations, product
from typing import Any

from sqlglot import exp

from streamhouse.errors import Location, StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.plan import FlowPlan
from streamhouse.model.table import Column
from streamhouse.planner.action_text import ports_of
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.compose import Composed
from streamhouse.planner.likeness import Likeness
from streamhouse.planner.meaning_of import filled, followed, meaning_of, meaning_of_step, without_null_keys
from streamhouse.sql.canonical import Canonical, CanonicalInput
from streamhouse.sql.dialect import parse_query, quote_names, render
from streamhouse.sql.parameters import fill_parameters, typed_literal

_AT = Location("the proposed query")
_MOST_TRIES = 64  # assignments of values, or of tables, to one action


@dataclass(frozen=True)
class SameTable:
    """A table that holds the answer.

    Attributes:
        query: Reads the answer from it.
    """

    table: str
    flow: str
    query: exp.Query
    why: str


@dataclass(frozen=True)
class SameAction:
    """An action that gives the answer with some values of its parameters.

    Attributes:
        reads: Port → table.
        columns: Column of the answer → column of the action's output.
        values: Those that are not the defaults.
    """

    name: str
    reads: Mapping[str, str]
    columns: Mapping[str, str]
    why: str
    values: Mapping[str, Any] = field(default_factory=dict)


def same_table(answers: tuple[Composed, ...], plans: Mapping[str, FlowPlan], catalog: Catalog) -> SameTable | None:
    """The table that a step makes of the same rows by the same query; None: no step does.

    Args:
        answers: The same answer in several spellings, constants filled in.
        plans: Flow → its plan.
        catalog: Has the tables that the answer reads.
    """
    meanings = [found for one in answers if (found := meaning_of(filled(one), catalog)) is not None]
    read = {f"{t.db}.{t.name}" for t in answers[0].query.find_all(exp.Table) if t.db}
    wanted_like = Likeness.of(render(answers[0].query))
    used = _used(answers[0], catalog)
    for flow, plan in plans.items():
        for step in plan.steps:
            if {one.table for one in step.reads} != read or step.writes.name not in catalog.tables:
                continue
            if any(not used[one.table] <= set(one.columns) for one in step.reads):
                continue
            if not Likeness.of(step.sql).may_mean(wanted_like):
                continue
            candidate = meaning_of_step(step, plan)
            for wanted in meanings if candidate is not None else ():
                columns = _columns(wanted, candidate) if candidate is not None else None
                if columns is not None:
                    why = f"the step of flow {flow} that makes it computes just this"
                    if without_null_keys(step):
                        why += f"; rows without {' or '.join(step.writes.primary_key)} are in its quarantine table"
                    return SameTable(step.writes.name, flow, _reading(step.writes.name, columns, answers[0].key), why)
    return None


def same_action(wanted: Composed, actions: Mapping[str, Action], catalog: Catalog) -> SameAction | None:
    """The action that gives the answer with some values; None: none does.

    Args:
        wanted: The answer, with a parameter for each constant.
        actions: By name.
        catalog: Has the tables that the answer reads.
    """
    meanings = [found for query in (filled(wanted),) if (found := meaning_of(query, catalog)) is not None]
    used = _used(wanted, catalog)
    wanted_like = Likeness.of(render(wanted.query))
    for action in actions.values():
        if len(action.inputs) != len(used) or action.deprecated is not None or _keeps_out(action):
            continue
        if not Likeness.of(action.sql).may_mean(wanted_like):
            continue
        for tables in islice(permutations(sorted(used)), _MOST_TRIES):
            bound = dict(zip(action.inputs, tables, strict=True))
            if not all(_fits(action.inputs[port], table, used[table], catalog) for port, table in bound.items()):
                continue
            for values in islice(_values(action, wanted), _MOST_TRIES):
                candidate = _action_meaning(action, bound, values, catalog)
                columns = next((c for m in meanings if candidate and (c := _columns(m, candidate)) is not None), None)
                if columns is not None:
                    other = {n: v for n, v in values.items() if v != action.params[n].default}
                    with_ = ", ".join(f"{name} = {value}" for name, value in other.items())
                    why = f"this is {action.action}" + (f" with {with_}" if with_ else "")
                    return SameAction(action.action, bound, columns, why, other)
    return None


def _used(wanted: Composed, catalog: Catalog) -> dict[str, set[str]]:
    """Table → the columns of it that a query uses, or one where it uses none."""
    _, inputs, reads = ports_of(wanted, catalog)
    return {table: set(inputs[port]) for port, table in reads.items()}


def _columns(wanted: Canonical, candidate: Canonical) -> dict[str, str] | None:
    """Column of the answer → column of what is made; None: rows or a column differ."""
    if wanted.rows is None or candidate.rows is None or wanted.rows.text != candidate.rows.text:
        return None
    if dict(wanted.types).items() - dict(candidate.types).items() and wanted.types - candidate.types:
        return None
    found: dict[str, str] = {}
    for name, output in wanted.outputs.items():
        same = [other for other, one in candidate.outputs.items() if one.text == output.text]
        if not same:
            return None
        found[name] = name if name in same else same[0]
    return found


def _reading(table: str, columns: Mapping[str, str], key: tuple[str, ...]) -> exp.Query:
    layer, _, name = table.partition(".")
    source = exp.alias_(exp.Table(this=exp.to_identifier(name), db=exp.to_identifier(layer)), name, table=True)
    shown = [exp.alias_(exp.column(column, name), as_) for as_, column in columns.items()]
    query = exp.select(*shown).from_(source)
    order = [exp.Ordered(this=exp.column(columns[part], name), nulls_first=True) for part in key if part in columns]
    if order:
        query.set("order", exp.Order(expressions=order))
    quote_names(query)
    return query


def _keeps_out(action: Action) -> bool:
    return any(rule.on_violation in ("drop", "fail") for rule in action.expect.values())


def _fits(declared: Mapping[str, str], table: str, used: set[str], catalog: Catalog) -> bool:
    own = {column.name: column.type for column in catalog.tables[table].columns}
    return used <= declared.keys() and all(own.get(name.lower()) == kind for name, kind in declared.items())


def _values(action: Action, wanted: Composed) -> Iterator[dict[str, Any]]:
    """Values that the parameters may have: constants of the answer of their type, or their defaults."""
    choices = []
    for parameter in action.params.values():
        own = [one.default for one in wanted.params.values() if one.type == parameter.type]
        defaults = [] if parameter.default is None else [parameter.default]
        choices.append([value for n, value in enumerate([*own, *defaults]) if value not in [*own, *defaults][:n]])
    for values in product(*choices):
        yield dict(zip(action.params, values, strict=True))


def _action_meaning(
    action: Action, bound: Mapping[str, str], values: Mapping[str, Any], catalog: Catalog
) -> Canonical | None:
    try:
        tree = parse_query(action.sql, _AT)
        literals = {n: typed_literal(n, action.params[n].type, value, _AT) for n, value in values.items()}
        fill_parameters(tree, action.params, literals, "", _AT)
    except StreamhouseError:
        return None
    inputs = {
        port: CanonicalInput(
            table,
            tuple(Column(name=c.name, type=c.type, nullable=c.nullable) for c in catalog.tables[table].columns),
        )
        for port, table in bound.items()
    }
    return followed(render(tree), inputs)
