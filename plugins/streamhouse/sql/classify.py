"""Chooses how a step is kept up to date (design D6): the cheapest strategy that is proven exact."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from streamhouse.errors import Location, StrategyError
from streamhouse.model.delta_plan import DeltaPlan
from streamhouse.model.table import ComputedColumn
from streamhouse.model.types import MergeFunction, ReadMode, Strategy
from streamhouse.sql.coarse_keys import coarse_key
from streamhouse.sql.delta import delta_plan
from streamhouse.sql.fold import Fold, fold, group_keys, key_text
from streamhouse.sql.rows import Arm, InputInfo, Inputs, NotProvenError, arms_of
from streamhouse.sql.schema import CheckedQuery
from streamhouse.sql.scopes import peel
from streamhouse.sql.touch import key_columns
from streamhouse.sql.traces import Own


@dataclass(frozen=True)
class Classification:
    """How a step is kept up to date, and why.

    Attributes:
        strategy: The cheapest one proven, or the one asked for.
        reason: For a person.
        primary_key: Of the output; empty: an append-only log.
        merge: Strategy `merge` only: every column outside the key → how the store folds it.
        key_columns: Port → output column → input column. `recompute`: for every driving port the same
            columns, of the key where it has some. `map` of an updated input: the whole key.
        delta: Strategy `delta` only: how changes become changes of groups; columns of ports in lower case.
        computed: Port → those of its input columns in `key_columns` that are expressions over its rows.
    """

    strategy: Strategy
    reason: str
    primary_key: tuple[str, ...] = ()
    merge: dict[str, MergeFunction] = field(default_factory=dict)
    key_columns: dict[str, dict[str, str]] = field(default_factory=dict)
    delta: DeltaPlan | None = None
    computed: dict[str, tuple[ComputedColumn, ...]] = field(default_factory=dict)


def classify(
    query: CheckedQuery,
    inputs: Inputs,
    *,
    primary_key: tuple[str, ...] = (),
    strategy: Strategy | None = None,
    without: Mapping[Strategy, str] | None = None,
    at: Location | None = None,
) -> Classification:
    """Choose a strategy, or check the one a person named.

    Args:
        query: Checked and qualified.
        inputs: Of every port.
        primary_key: As declared; empty: derived where the SQL shows it.
        strategy: As declared; None: the cheapest that is exact.
        without: Strategies that the table written rules out, with the reason.
        at: Place for errors.

    Raises:
        StrategyError: the strategy named is not exact for this SQL, no input drives the step, the result has no key
            by which rows could be replaced, or several groups may have one key.
    """
    if not any(i.mode is ReadMode.CHANGES for i in inputs.values()):
        raise StrategyError(
            "no input drives this step: every port is read as lookup", at=at, hint="read one without 'as: lookup'"
        )
    if (why := coarse_key(query, primary_key)) is not None:
        raise StrategyError(why, at=at, hint="group by the expression that is in the key")
    failures: dict[Strategy, str] = {}
    for candidate, prove in _PROOFS.items():
        if strategy not in (None, candidate):
            continue
        if without and candidate in without:
            failures[candidate] = without[candidate]
            continue
        try:
            if candidate is not Strategy.FULL and query.decides_by_clock:
                raise NotProvenError("it changes with the time alone, for a clock stands outside the output columns")
            return prove(query, inputs, primary_key, failures)
        except NotProvenError as failure:
            failures[candidate] = str(failure)
    if strategy is not None and strategy is not Strategy.FULL:
        raise StrategyError(
            f"strategy '{strategy}' would give wrong rows: {failures[strategy]}",
            at=at,
            hint="leave 'strategy' out to have one chosen",
        )
    raise StrategyError(
        f"rows of the result cannot be replaced: {failures[Strategy.FULL]}",
        at=at,
        hint="declare output.primary_key in the action, or tables.<name>.primary_key in the flow",
    )


def _prove_map(query: CheckedQuery, inputs: Inputs, key: tuple[str, ...], _: dict[Strategy, str]) -> Classification:
    arms = arms_of(query.scope, inputs, query.inference)
    drivers = " and ".join(dict.fromkeys(arm.port for arm in arms))
    one = f"each output row comes from one row of {drivers}"
    updated = [arm for arm in arms if not inputs[arm.port].append_only]
    if not updated and (len(arms) == 1 or not key):
        return Classification(Strategy.MAP, one, key)
    if not updated:
        raise NotProvenError("members of the UNION ALL may share a key, and which comes last depends on the epochs")
    if len(arms) > 1:
        ports = " and ".join(dict.fromkeys(arm.port for arm in updated))
        raise NotProvenError(f"rows of {ports} are updated, and members of the UNION ALL may share a key")
    arm, own = arms[0], tuple(c.lower() for c in inputs[arms[0].port].primary_key)
    mapped = _traced_key(arm, own, key)
    if not arm.single:
        why = "the primary key is that of the row" if key else "no primary key is declared"
        raise NotProvenError(f"a row of {arm.port} may give several rows, and {why}")
    reason = f"{one} and keeps its key ({', '.join(mapped)})"
    return Classification(Strategy.MAP, reason, tuple(mapped), key_columns={arm.port: mapped})


def _traced_key(arm: Arm, own: tuple[str, ...], key: tuple[str, ...]) -> dict[str, str]:
    """The output key → the key of the input, which must be the same columns."""
    if key:
        mapped = {column: arm.columns.get(column, "") for column in key}
    else:
        first: dict[str, str] = {}
        for column, source in arm.columns.items():
            first.setdefault(source, column)
        mapped = {first[source]: source for source in own if source in first}
    if set(mapped.values()) != set(own) or len(mapped) != len(own):
        raise NotProvenError(
            f"{arm.port} is updated by its key ({', '.join(own)}), and the output key is not made of just that"
        )
    return mapped


def _prove_merge(query: CheckedQuery, inputs: Inputs, key: tuple[str, ...], _: dict[Strategy, str]) -> Classification:
    merge_fold: Fold = fold(query.scope, inputs, query.inference)
    if key and set(key) != set(merge_fold.key):
        raise NotProvenError(f"the primary key ({', '.join(key)}) is not the GROUP BY ({', '.join(merge_fold.key)})")
    functions = sorted({str(f) for f in merge_fold.functions.values()})
    folded = ", ".join(functions) if functions else "nothing"
    reason = f"rows are only ever added, and the store folds {folded} by ({', '.join(merge_fold.key)})"
    return Classification(Strategy.MERGE, reason, key or merge_fold.key, merge_fold.functions)


def _prove_recompute(
    query: CheckedQuery, inputs: Inputs, key: tuple[str, ...], failures: dict[Strategy, str]
) -> Classification:
    key = key or _derived_key(query)
    owns = key_columns(query.scope, key, inputs, query.inference)
    columns = {port: {name: _column_name(own) for name, own in found.items()} for port, found in owns.items()}
    computed = {
        port: tuple(_computed(own) for own in found.values() if own.column is None) for port, found in owns.items()
    }
    shared = ", ".join(next(iter(columns.values())))
    why = failures.get(Strategy.MERGE if _groups(query) else Strategy.MAP)
    reason = f"a changed row touches only the rows of its ({shared}), in every input"
    reason = f"{reason}; {why}" if why else reason
    return Classification(Strategy.RECOMPUTE, reason, key, key_columns=columns, computed=computed)


def _column_name(own: Own) -> str:
    return own.column if own.column is not None else _computed(own).name


def _computed(own: Own) -> ComputedColumn:
    return ComputedColumn(sql=own.text, type=str(own.type), uses=own.columns)


def _prove_delta(
    query: CheckedQuery, inputs: Inputs, key: tuple[str, ...], failures: dict[Strategy, str]
) -> Classification:
    key = key or _derived_key(query)
    plan = delta_plan(query, inputs, key)
    groups = f"group of ({', '.join(plan.shown)})" if plan.shown else "result"
    state = "totals" if plan.totals else "joined rows"
    reason = f"changed rows are joined with the rows that they match, and the state has the {state} of each {groups}"
    if plan.stages:
        number = len(plan.stages)
        reason += f"; {number} inner {'query is' if number == 1 else 'queries are'} kept up to date in the same way"
    why = failures.get(Strategy.RECOMPUTE)
    return Classification(Strategy.DELTA, f"{reason}; {why}" if why else reason, key, delta=plan)


def _prove_full(query: CheckedQuery, _: Inputs, key: tuple[str, ...], failures: dict[Strategy, str]) -> Classification:
    key = key or _derived_key(query)
    found = dict.fromkeys(failures[s] for s in (Strategy.RECOMPUTE, Strategy.DELTA) if s in failures)
    whys = [why for why in found if not any(other != why and other.startswith(why) for other in found)]
    reason = f"every row may change with every epoch: {'; '.join(whys)}" if whys else "asked for"
    return Classification(Strategy.FULL, reason, key)


def _derived_key(query: CheckedQuery) -> tuple[str, ...]:
    """The key that a GROUP BY shows.

    Raises:
        NotProvenError: the SQL shows none.
    """
    scope, outer = peel(query.scope)
    select = scope.expression
    if not isinstance(select, exp.Select) or not select.args.get("group"):
        raise NotProvenError("the SQL does not show a primary key")
    names: dict[str, list[str]] = {}
    for item in select.selects:
        names.setdefault(key_text(item.unalias()), []).extend(outer.get(item.alias_or_name, []))
    found = [names.get(key_text(key), []) for key in group_keys(select)]
    if not all(found):
        raise NotProvenError("a group key is not in the output, so the SQL does not show a primary key")
    key = {name[0] for name in found}
    return tuple(item.alias_or_name for item in query.tree.selects if item.alias_or_name in key)


def _groups(query: CheckedQuery) -> bool:
    return bool(peel(query.scope)[0].expression.args.get("group"))


_Proof = Callable[[CheckedQuery, Inputs, tuple[str, ...], dict[Strategy, str]], Classification]
_PROOFS: dict[Strategy, _Proof] = {
    Strategy.MAP: _prove_map,
    Strategy.MERGE: _prove_merge,
    Strategy.RECOMPUTE: _prove_recompute,
    Strategy.DELTA: _prove_delta,
    Strategy.FULL: _prove_full,
}

__all__ = ["Classification", "InputInfo", "classify"]
