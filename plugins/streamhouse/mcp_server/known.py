"""The catalog of a project: its tables with what they mean, and what of them may be shown."""

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace

from streamhouse.errors import StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Step
from streamhouse.model.meaning import Sharing
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.planner.build_catalog import build_catalog, said_by
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.project.cache.known_values import known_values
from streamhouse.registry import Registry
from streamhouse.sql.dialect import parse_query
from streamhouse.ui.desk import Desk

_log = logging.getLogger(__name__)
_NOTHING = Sharing(schema=False, rows=False)
_DENIED = re.compile(r"\bschema[\"']?\s*:\s*[\"']?(?:denied|false|no|off)\b", re.IGNORECASE | re.ASCII)
_LIKE_A_NAME = re.compile(r"\b[A-Za-z]\w*_\w+\b", re.UNICODE)


def catalog_of(desk: Desk, registry: Registry) -> Catalog:
    """Every table that runs or that the files define.

    What the files say now holds, applied or not. Of a flow that they do not define, or while a file is wrong, what was
    applied holds, and no rows may be shown: a file may just have said so.
    """
    try:
        desired: Mapping[str, FlowPlan] = desk.desired()
    except StreamhouseError:
        desired = {}
    try:
        shown = {flow: plan for flow, (_, plan) in desk.shown().items()}
    except StreamhouseError:  # nothing was ever applied
        shown = {}
    actions = {name: one for name, one in registry.actions.items() if _may_show_schemas(registry, name)}
    values = known_values(desk.project, desired, _log.warning)
    known = build_catalog(registry, desired, values) if desired else Catalog({})
    tables = _of_unreadable(desk, known)
    running = {flow: plan for flow, plan in shown.items() if not known.tables.keys() >= plan.tables.keys()}
    tables |= {name: table for flow, plan in running.items() for name, table in _applied(desk, flow, plan).items()}
    if not desired:
        tables = _with_refused(tables, registry)
    return Catalog({**tables, **known.tables}, known.keys, actions)


def _of_unreadable(desk: Desk, known: Catalog) -> dict[str, CatalogTable]:
    """Tables that were applied and of which nothing else is known, because plans of flows cannot be read.

    Nothing of them may be shown: their texts may have said so.
    """
    unreadable, state = desk.unreadable(), desk.state
    if state is None or not unreadable:
        return {}
    lost_names = set(state.tables.known()) - known.tables.keys()
    return {name: CatalogTable(name, "", "", (), sharing=_NOTHING) for name in lost_names}


def is_denied(text: str) -> bool:
    """Whether a file denies that a table's schema is shown, as far as a wrong file can say it."""
    return bool(_DENIED.search(text))


def _may_show_schemas(registry: Registry, action: str) -> bool:
    return all(version.ai.decided.of_schema for version in registry.versions(action))


def _applied(desk: Desk, flow: str, plan: FlowPlan) -> dict[str, CatalogTable]:
    """The tables of a flow as the texts say that it was applied with; of others nothing may be shown."""
    state = desk.state
    definition = state.definitions.applied({}).get(flow) if state is not None else None
    try:
        found = build_catalog(Registry.of_definition(definition), {flow: plan}).tables if definition else {}
    except StreamhouseError:
        found = {}
    return {
        step.writes.name: _without_rows(found[step.writes.name]) if step.writes.name in found else _unknown(flow, step)
        for step in plan.steps
    }


def _without_rows(table: CatalogTable) -> CatalogTable:
    return replace(table, sharing=table.sharing.model_copy(update={"of_rows": False}))


def _unknown(flow: str, step: PlannedStep) -> CatalogTable:
    columns = tuple(CatalogColumn(column.name, column.type, column.nullable) for column in step.writes.columns)
    return CatalogTable(step.writes.name, flow, step.action, columns, step.writes.primary_key, sharing=_NOTHING)


def _with_refused(applied: Mapping[str, CatalogTable], registry: Registry) -> dict[str, CatalogTable]:
    """Tables that run, and those that files refuse to tell of, while these cannot be compiled."""
    tables = dict(applied)
    if not any(is_denied(file.content.decode(errors="replace")) for file in registry.files.values() if file.content):
        return tables
    if any(map(is_denied, _broken_texts(registry))):
        broken = set(registry.broken_flows)
        tables |= {name: replace(one, sharing=_NOTHING) for name, one in tables.items() if one.flow in broken}
    stated = [(step.writes, _stated(registry, flow, step)) for flow in registry.flows.values() for step in flow.steps]
    stated += _of_nobody(registry, {name for name, _ in stated})
    used = {table.action for _, table in stated}
    unused = [_of_action(one) for name, one in registry.actions.items() if name not in used]
    stated += [(table.name, table) for table in unused if table.name not in dict(stated)]
    shown_columns = {column.name for _, table in stated if table.sharing.of_schema for column in table.columns}
    for name, table in stated:
        if not table.sharing.of_schema:
            own = tuple(column for column in table.columns if column.name not in shown_columns)
            before = tables[name].columns if name in tables else ()
            tables[name] = replace(table, columns=(*own, *before), sharing=_NOTHING)
    return tables


def _broken_texts(registry: Registry) -> Iterator[str]:
    sound = {known.file for known in registry.found} | {flow.at.file for flow in registry.flows.values()}
    for name, file in registry.files.items():
        if name not in sound and file.content is not None:
            yield file.content.decode(errors="replace")


def _stated(registry: Registry, flow: Flow, step: Step) -> CatalogTable:
    """What the files say of the table of a step, as far as that needs no compiler.

    Nothing of it may be shown where nobody knows what its action says: some file says that a schema may not be shown.
    """
    name = step.use.partition("@")[0]
    try:
        action = registry.action(step.use)
    except StreamhouseError:
        columns = tuple(CatalogColumn(word, "") for word in _words_of_broken(registry, name))
        return CatalogTable(step.writes, flow.flow, name, columns, sharing=_NOTHING)
    own, said = flow.tables.get(step.writes), replace(_of_action(action), name=step.writes, flow=flow.flow)
    if own is None:
        return said
    columns = tuple(CatalogColumn(name, "") for name in own.meaning.columns)
    return replace(said, columns=(*columns, *said.columns), sharing=own.meaning.ai.over(action.ai).decided)


def _words_of_broken(registry: Registry, action: str) -> list[str]:
    """What may be names of columns in a file that seems to define an action."""
    texts = (text for text in _broken_texts(registry) if re.search(rf"\b{re.escape(action)}\b", text))
    return list(dict.fromkeys(word for text in texts for word in _LIKE_A_NAME.findall(text)))


def _of_nobody(registry: Registry, written: Collection[str]) -> Iterator[tuple[str, CatalogTable]]:
    """Tables that steps read and nobody writes: one that may not be shown, misspelt."""
    for flow in registry.flows.values():
        for read in (read for step in flow.steps for read in step.reads.values()):
            if read.table not in written and read.table not in flow.sources:
                yield read.table, CatalogTable(read.table, flow.flow, "", (), sharing=_NOTHING)


def _of_action(action: Action) -> CatalogTable:
    said = said_by(action)
    names = [*(column.name for column in said.columns), *_selected(action)]
    if not action.ai.decided.of_schema:  # what it reads is as secret as what it makes of that
        names += [column for port in action.inputs.values() for column in port]
    return replace(said, columns=tuple(CatalogColumn(name, "") for name in dict.fromkeys(names)))


def _selected(action: Action) -> Iterator[str]:
    """Columns that an action gives, as far as its SQL names them."""
    try:
        yield from (name for name in parse_query(action.sql, action.sql_at).named_selects if name != "*")
    except StreamhouseError:  # reported as an error of its own
        return
