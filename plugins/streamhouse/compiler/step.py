"""Plans one step: types its SQL, chooses its strategy, and makes the table it writes."""

from collections.abc import Hashable, Iterator, Mapping
from typing import TypeVar

from sqlglot import exp

from streamhouse.compiler.analyses import Analyses
from streamhouse.compiler.check import Readable, check_columns, parameter_literals
from streamhouse.compiler.expect import judges_parts, plan_expectations
from streamhouse.compiler.kept import default_tiers
from streamhouse.compiler.merge_engine import engine_errors, ruled_out, selection
from streamhouse.compiler.null_keys import null_key_errors, null_keys, total_errors
from streamhouse.compiler.partitions import (
    name_errors,
    partial_reads,
    partition_errors,
    refuse_lost_parts,
    stale_rows,
)
from streamhouse.errors import (
    DefinitionErrors,
    Location,
    OutputColumnError,
    StreamhouseError,
    TierError,
    TypeMismatchError,
    UnknownColumnError,
    did_you_mean,
)
from streamhouse.model.action import Action
from streamhouse.model.delta_plan import DeltaBlock, DeltaPlan
from streamhouse.model.flow import Flow, Step
from streamhouse.model.notice import Notice
from streamhouse.model.plan import PlannedRead, PlannedStep
from streamhouse.model.table import NO_KEY_TYPES, Column, Table, TableOptions
from streamhouse.model.types import History, MergeEngine, ReadMode, Strategy, Tier
from streamhouse.sql.classify import Classification, InputInfo, classify
from streamhouse.sql.dialect import parse_query
from streamhouse.sql.last_resort import guard_analysis
from streamhouse.sql.made_of import made_of_checked
from streamhouse.sql.origins import Traced
from streamhouse.sql.parameters import fill_parameters
from streamhouse.sql.ports import ActionPort, column_of
from streamhouse.sql.schema import CheckedQuery, analyse

_AnyBlock = TypeVar("_AnyBlock", bound=DeltaBlock)


def plan_step(
    step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable], analyses: Analyses | None = None
) -> PlannedStep:
    """One step, checked and typed.

    Args:
        step: Its ports are those of `action`.
        action: What it uses.
        flow: Its `tables` has options for the table written.
        readable: Everything the step reads, by name.
        analyses: Of other steps that use the same actions; filled.

    Raises:
        DefinitionError: any of those that `compile_flow` names.
        DefinitionErrors: several.
    """
    with guard_analysis(action.sql_at, f"the SQL of action '{action.action}'"):
        return _plan_step(step, action, flow, readable, analyses if analyses is not None else Analyses())


def made_of_step(step: Step, action: Action, readable: Mapping[str, Readable], analyses: Analyses) -> Traced | None:
    """What the columns of a step are made of, as `made_of_checked` has it.

    Args:
        step: As given to `plan_step`, which took it.
        action: What it uses.
        readable: Everything the step reads, by name.
        analyses: As given to `plan_step`.
    """
    use = analyses.token(_use(step, readable))
    literals, _ = parameter_literals(step, action)
    query = analyses.of(action, ("query", use), lambda: _query(step, action, readable, literals))
    modes = {port: "lookup" if read.mode is ReadMode.LOOKUP else "changes" for port, read in step.reads.items()}
    return analyses.of(action, ("made of", use), lambda: made_of_checked(query, modes))


def _plan_step(
    step: Step, action: Action, flow: Flow, readable: Mapping[str, Readable], analyses: Analyses
) -> PlannedStep:
    errors = check_columns(step, action, readable)
    literals, wrong = parameter_literals(step, action)
    _raise([*errors, *wrong])
    use = analyses.token(_use(step, readable))
    query = analyses.of(action, ("query", use), lambda: _query(step, action, readable, literals))
    options = flow.tables.get(step.writes, TableOptions())
    declared = options.primary_key if options.primary_key is not None else action.output.primary_key
    options_at = flow.places.get(f"tables.{step.writes}", flow.at)
    partitions_at = flow.places.get(f"tables.{step.writes}.partition_by", options_at)
    event_time_at = flow.places.get(f"tables.{step.writes}.event_time", options_at)
    key_at = options_at if options.primary_key is not None else action.at
    expect, unmet = analyses.of(action, ("expect", use), lambda: plan_expectations(action, query.columns, literals))
    _raise(
        [
            *_unknown(declared, "primary_key", query, key_at),
            *_renames(action, query),
            *_unknown(options.bucket_key, "bucket_key", query, options_at),
            *_unknown(options.partition_by, "partition_by", query, partitions_at),
            *_unknown((action.output.event_time,) if action.output.event_time else (), "event_time", query, action.at),
            *_unknown((options.event_time,) if options.event_time else (), "event_time", query, event_time_at),
            *unmet,
        ]
    )
    inputs = {
        port: InputInfo(
            append_only=not readable[read.table].primary_key,
            mode=read.mode,
            primary_key=tuple(c.lower() for c in readable[read.table].primary_key),
        )
        for port, read in step.reads.items()
    }
    strategy, key = step.strategy or action.strategy, tuple(c.lower() for c in declared)
    strategy_at = step.places.get("strategy", step.at) if step.strategy else action.sql_at

    def chosen(without: Mapping[Strategy, str]) -> Classification:
        return analyses.of(
            action,
            ("classify", use, key, strategy, tuple(without.items())),
            lambda: classify(query, inputs, primary_key=key, strategy=strategy, without=without, at=strategy_at),
        )

    without = ruled_out(options)
    if action.interval:
        without[Strategy.DELTA] = "the action sets an interval"
    how = chosen(without)
    if how.strategy is Strategy.MERGE and (reason := judges_parts(expect, how.primary_key)):
        without[Strategy.MERGE] = reason
        how = chosen(without)
    if how.delta is not None and how.delta.top is not None and expect:
        without[Strategy.DELTA] = "expectations judge only the rows that LIMIT leaves"
        how = chosen(without)
    shared = options.merge_engine is MergeEngine.PARTIAL_UPDATE
    partition_by = _lower(options.partition_by)
    nulls = null_keys(how.primary_key or partition_by, query.columns, expect)
    columns = tuple(
        column_of(c.name, c.type, c.name in nulls if c.name in how.primary_key else c.nullable or shared)
        for c in query.columns
    )
    _raise(
        [
            *engine_errors(step, flow, options, how, inputs, columns),
            *partition_errors(step.writes, options, columns, how.primary_key, partitions_at),
            *total_errors(step.writes, query, how.primary_key, nulls, action.sql_at),
            *null_key_errors(step.writes, how.primary_key or partition_by, nulls, columns, partitions_at),
        ]
    )
    table = _table(step, action, columns, how, options, options_at).model_copy(update={"null_keys": nulls})
    refuse_lost_parts(table, partitions_at, shared=shared)
    named = {port: readable[read.table].names_partitions for port, read in step.reads.items()}
    _raise(name_errors(table, query, expect, named, partitions_at))
    changing = [read.table for read in step.reads.values() if read.mode is ReadMode.CHANGES]
    forget = {name: readable[name].forgets_after for name in changing}
    return PlannedStep(
        action=action.action,
        version=action.version,
        kind=action.step,
        reads=tuple(_read(port, step, query, how, readable) for port in action.inputs),
        writes=table,
        sql=query.sql,
        strategy=how.strategy,
        reason=how.reason,
        delta=_delta(step, how, readable),
        interval=action.interval if how.strategy is Strategy.FULL else None,
        isolate=step.isolate,
        part=tuple(c for c in table.column_names if c not in table.primary_key) if shared else (),
        expect=expect,
        notices=(
            *query.notices,
            *_deprecation(step, action),
            *partial_reads(step.writes, how.strategy, forget, step.at),
            *stale_rows(table, how, step.at),
        ),
        copies=_copies(step, query, readable),
        texts=_texts(step, query, readable),
        history=options.history or flow.history or History.of(table.layer),
        renamed=action.output.renamed,
        params=dict(step.params),
    )


def _delta(step: Step, how: Classification, readable: Mapping[str, Readable]) -> DeltaPlan | None:
    """As chosen, with the names that columns of the ports have."""
    if how.delta is None:
        return None
    names = {
        port: {column.name.lower(): column.name for column in readable[read.table].columns}
        for port, read in step.reads.items()
    }
    stages = tuple(one.model_copy(update={"plan": _named(one.plan, names)}) for one in how.delta.stages)
    return _named(how.delta, names).model_copy(update={"stages": stages})


def _named(plan: _AnyBlock, names: Mapping[str, Mapping[str, str]]) -> _AnyBlock:
    def own(port: str, column: str) -> str:
        known = names.get(plan.ports.get(port, port), {})  # columns of a stage are called as they are
        return known.get(column, column)

    links = tuple({port: own(port, column) for port, column in link.items()} for link in plan.links)
    return plan.model_copy(update={"links": links})


def _copies(step: Step, query: CheckedQuery, readable: Mapping[str, Readable]) -> dict[str, tuple[str, str]]:
    return {name: _read_by(port, column, step, readable) for name, (port, column) in query.copies.items()}


def _texts(
    step: Step, query: CheckedQuery, readable: Mapping[str, Readable]
) -> dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]]:
    kinds = {column.name: column.type for column in query.columns}
    return {
        name: (tuple(sorted(_read_by(port, column, step, readable) for port, column in columns)), tuple(sorted(texts)))
        for name, (columns, texts) in query.values_from.items()
        if kinds.get(name) == "string"
    }


def _read_by(port: str, column: str, step: Step, readable: Mapping[str, Readable]) -> tuple[str, str]:
    """The table and column that the SQL calls so."""
    table = step.reads[port].table
    return table, next(c.name for c in readable[table].columns if c.name.lower() == column.lower())


def _deprecation(step: Step, action: Action) -> Iterator[Notice]:
    deprecation = action.deprecated
    if deprecation is not None:
        hint = f"use {deprecation.use} instead" if deprecation.use else None
        text = f"{action.action} {action.version} is deprecated and may be gone from {deprecation.until} on"
        yield Notice(text, step.places.get("use", step.at), hint)


def _use(step: Step, readable: Mapping[str, Readable]) -> Hashable:
    """All that the meaning of an action's SQL follows from in a step, beside the action."""
    ports = (
        (port, read.mode, readable[read.table].columns, readable[read.table].primary_key)
        for port, read in step.reads.items()
    )
    # As text: True, 1 and 1.0 are equal, and make three literals.
    return (repr(list(step.params.items())), *ports)


def _query(
    step: Step, action: Action, readable: Mapping[str, Readable], literals: Mapping[str, exp.Expr]
) -> CheckedQuery:
    tree = parse_query(action.sql, action.sql_at)
    fill_parameters(tree, action.params, literals, action.sql, action.sql_at)
    ports = {
        port.lower(): ActionPort(
            bound=readable[step.reads[port].table].columns,
            declared=declared,
            lookup=step.reads[port].mode is ReadMode.LOOKUP,
            key=tuple(name.lower() for name in readable[step.reads[port].table].primary_key),
        )
        for port, declared in action.inputs.items()
    }
    return analyse(tree, ports, action.sql, action.sql_at, extra_columns=action.output.extra_columns == "pass")


def output_errors(action: Action, query: CheckedQuery) -> list[StreamhouseError]:
    """What is wrong with what an action says of its result, whichever table takes it."""
    event_time = (action.output.event_time,) if action.output.event_time else ()
    return [
        *_unknown(action.output.primary_key, "primary_key", query, action.at),
        *_renames(action, query),
        *_unknown(event_time, "event_time", query, action.at),
    ]


def _renames(action: Action, query: CheckedQuery) -> Iterator[StreamhouseError]:
    """What is wrong with `renamed`: nothing that it says is passed over."""
    renamed, own = action.output.renamed, {c.name.lower() for c in query.columns}
    first: dict[str, str] = {}
    for name, was in renamed.items():
        at = action.output.places.get(name, action.at)
        yield from _unknown((name,), "renamed", query, at)
        if was.lower() in own:
            yield OutputColumnError(
                f"renamed says that {name} was called {was}, but {was} is a column of the result as well",
                at=at,
                hint=f"apply the new name first, and add the other {was} in an edit of its own; or remove "
                f"'{name}: {was}'",
            )
        elif other := first.get(was.lower()):
            yield OutputColumnError(
                f"renamed says that both {other} and {name} were called {was}", at=at, hint="keep one of them"
            )
        first.setdefault(was.lower(), name)


def _unknown(names: tuple[str, ...], role: str, query: CheckedQuery, at: Location) -> list[StreamhouseError]:
    if not names:
        return []
    own = [c.name for c in query.columns]
    return [
        UnknownColumnError(
            f"{role} names '{name}', which is no output column",
            at=at,
            hint=did_you_mean(name, own, f"output columns: {', '.join(own)}"),
        )
        for name in names
        if name.lower() not in own
    ]


def _read(
    port: str,
    step: Step,
    query: CheckedQuery,
    how: Classification,
    readable: Mapping[str, Readable],
) -> PlannedRead:
    read = step.reads[port]
    names = {c.name.lower(): c.name for c in readable[read.table].columns}
    computed = tuple(
        column.model_copy(update={"uses": tuple(names[name] for name in column.uses)})
        for column in how.computed.get(port, ())
    )
    key = {out: names.get(column, column) for out, column in how.key_columns.get(port, {}).items()}
    wanted = {*query.reads[port], *key.values(), *(name for column in computed for name in column.uses)}
    return PlannedRead(
        port=port,
        table=read.table,
        mode=read.mode,
        columns=tuple(name for name in names.values() if name in wanted),
        key_columns=key,
        computed=computed,
    )


def _table(
    step: Step,
    action: Action,
    columns: tuple[Column, ...],
    how: Classification,
    options: TableOptions,
    options_at: Location,
) -> Table:
    partition_by = _lower(options.partition_by)
    has_days = any(c.type == "date" for c in columns if c.name in partition_by)
    tiers = options.tiers or default_tiers(has_days=has_days)
    if how.strategy is Strategy.MERGE and tiers.target is Tier.COLD:
        raise TierError(
            f"{step.writes} is kept by merging, and the cold tier cannot merge",
            at=options_at,
            hint="add a hot or warm tier, or write 'strategy: recompute' in the step",
        )
    errors: list[StreamhouseError] = [
        TypeMismatchError(
            f"{c.name} is {c.type} and cannot be part of a primary key",
            at=action.at,
            hint="name other columns in output.primary_key, or CAST it",
        )
        for c in columns
        if c.name in how.primary_key and c.type.startswith(NO_KEY_TYPES)
    ]
    bucket_key = tuple(c.lower() for c in options.bucket_key)
    if how.primary_key and (stray := [c for c in bucket_key if c not in how.primary_key]):
        errors.append(
            UnknownColumnError(
                f"bucket_key names '{stray[0]}', which the primary key lacks",
                at=options_at,
                hint=f"the primary key is: {', '.join(how.primary_key)}",
            )
        )
    _raise(errors)
    first_row, version_column = selection(options)
    return Table(
        name=step.writes,
        columns=columns,
        primary_key=how.primary_key,
        bucket_key=bucket_key,
        buckets=options.buckets,
        partition_by=partition_by,
        tiers=tiers,
        merge=how.merge,
        first_row=first_row,
        version_column=version_column,
        event_time=action.output.event_time or options.event_time,
    )


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)


def _raise(errors: list[StreamhouseError]) -> None:
    if len(errors) == 1:
        raise errors[0]
    if errors:
        raise DefinitionErrors(errors)
