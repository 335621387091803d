"""The action registry, and the search over everything that has a name."""

from streamhouse.model.action import Action, Parameter
from streamhouse.planner.build_catalog import said_by
from streamhouse.registry import Registry
from streamhouse.registry.search import search
from streamhouse.ui.answers import ActionPage, ActionSummary, ExampleAnswer, ParameterAnswer, Port, SearchResult, Use
from streamhouse.ui.desk import Desk
from streamhouse.ui.meaning import meant
from streamhouse.ui.tables import rules_of


def summaries(desk: Desk, text: str) -> list[ActionSummary]:
    """Actions that hold every word of a text, best first; all by name, of an empty one."""
    registry = desk.registry
    hits = search(text, registry.actions.values(), ())
    return [_summary(registry, registry.actions[hit.name]) for hit in hits]


def page(desk: Desk, name: str) -> ActionPage:
    """One action; `name` may say a version: `clean_orders@1`.

    Raises:
        UnknownActionError: there is none.
        StreamhouseError: the file that defines it is wrong.
    """
    registry = desk.registry
    found = registry.action(name)
    return ActionPage(
        summary=_summary(registry, found),
        file=found.at.file,
        line=found.at.line,
        fingerprint=registry.fingerprint(found),
        versions=tuple(one.version for one in registry.versions(found.action)),
        inputs=tuple(Port(port=port, columns=columns) for port, columns in found.inputs.items()),
        params=tuple(_parameter(key, p) for key, p in found.params.items()),
        primary_key=found.output.primary_key,
        event_time=found.output.event_time,
        extra_columns=found.output.extra_columns,
        expectations=rules_of(found.expect),
        uses=tuple(Use(flow=use.flow, writes=use.step.writes) for use in registry.used_by(found.action)),
        examples=tuple(ExampleAnswer(given=e.given, params=e.params, expect=e.expect) for e in found.examples),
        sql=found.sql.strip(),
        meaning=meant(said_by(found)),
    )


def _parameter(name: str, p: Parameter) -> ParameterAnswer:
    return ParameterAnswer(name=name, type=p.type, required=p.required, default=p.default, description=p.description)


def find(desk: Desk, text: str, limit: int) -> list[SearchResult]:
    """Flows, actions and tables that hold every word of a text, best first."""
    registry = desk.registry
    hits = search(text, registry.actions.values(), registry.flows.values())
    named = [SearchResult(kind=hit.kind, name=hit.name, description=hit.description) for hit in hits]
    words = text.lower().split()
    tables = [
        SearchResult(kind="table", name=table, description=f"written by {', '.join(use.step.use for use in uses)}")
        for table, uses in sorted(registry.writers().items())
        if all(word in table for word in words)
    ]
    exact = [one for one in (*tables, *named) if all(word in one.name for word in words)]
    return list(dict.fromkeys([*exact, *named, *tables]))[:limit]


def _summary(registry: Registry, found: Action) -> ActionSummary:
    until = found.deprecated
    return ActionSummary(
        action=found.action,
        version=found.version,
        step=found.step.value,
        layer=found.step.layer.value,
        description=found.description,
        examples=len(found.examples),
        used_by=tuple(dict.fromkeys(use.flow for use in registry.used_by(found.action))),
        deprecated=f"may be gone from {until.until}{f'; use {until.use}' if until.use else ''}" if until else None,
    )
