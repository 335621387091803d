"""What the planner knows of a project, from its definitions and plans. Pure: the caller reads values of rows."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from streamhouse.model.action import Action
from streamhouse.model.meaning import ColumnMeaning, Meaning
from streamhouse.model.plan import FlowPlan, PlannedStep
from streamhouse.model.table import Column, TableOptions
from streamhouse.model.types import Layer
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.foreign_keys import foreign_keys

if TYPE_CHECKING:
    from streamhouse.registry import Registry

KnownValues = Mapping[tuple[str, str], Collection[str]]
"""(table, column) → every text that the column has, as far as its rows were seen."""

_LAYERS = {layer: position for position, layer in enumerate(Layer)}
_NOTHING_SAID = ColumnMeaning()
_NOTHING_ABOVE = CatalogColumn("", "")


def build_catalog(registry: "Registry", plans: Mapping[str, FlowPlan], values: KnownValues | None = None) -> Catalog:
    """The catalog of a project that was checked without errors.

    What a flow says of a table wins over what its action says, and that over what the column says that a column is
    copied from unchanged.

    Args:
        registry: Its actions and flows.
        plans: Flow → its plan, each after the flows it reads from, as `check_project` gives them.
        values: Of columns whose values are known; such a column counts as having no others. Texts in examples of
            actions are taken for the rest, which may have others.

    Returns:
        Tables by layer, then by name. Equal arguments give an equal catalog.
    """
    found: dict[str, CatalogTable] = {}
    for name, steps in _written(plans).items():
        found[name] = _table(name, _writers(registry, steps), found, values or {})
    tables = {name: found[name] for name in sorted(found, key=lambda n: (_LAYERS[found[n].layer], n))}
    return Catalog(tables, foreign_keys(tables), registry.actions)


def catalog_table(registry: "Registry", plans: Mapping[str, FlowPlan], name: str) -> CatalogTable | None:
    """As `build_catalog` has it, of one table, with less work; None: no flow writes it."""
    written = _written(plans)
    needed, pending = {name}, [name]
    while pending:
        for _, step in written.get(pending.pop(), ()):
            above = {origin for origin, _ in step.copies.values()} - needed
            needed |= above
            pending += above
    found: dict[str, CatalogTable] = {}
    for table, steps in written.items():
        if table in needed:
            found[table] = _table(table, _writers(registry, steps), found, {})
    return found.get(name)


def said_by(action: Action) -> CatalogTable:
    """What an action says of the table that it makes, whichever that is: the columns have no type."""
    meaning = action.meaning
    return CatalogTable(
        name=f"{action.step.layer.value}.{action.action}",
        flow="",
        action=action.action,
        columns=tuple(
            _column(Column(name=name, type=""), own, None, None, ()) for name, own in meaning.columns.items()
        ),
        primary_key=action.output.primary_key,
        event_time=action.output.event_time,
        description=meaning.description,
        synonyms=meaning.synonyms,
        measures=meaning.measures,
        dimensions=meaning.dimensions,
        sharing=meaning.ai.decided,
    )


@dataclass(frozen=True)
class _Writer:
    """A step that writes a table, with what its files say of that."""

    flow: str
    step: PlannedStep
    action: Action
    options: TableOptions | None

    @property
    def meaning(self) -> Meaning:
        own = self.action.meaning
        return self.options.meaning.over(own) if self.options is not None else own


def _written(plans: Mapping[str, FlowPlan]) -> dict[str, list[tuple[str, PlannedStep]]]:
    """Table → the steps that write it, each with its flow; upstream first."""
    found: dict[str, list[tuple[str, PlannedStep]]] = {}
    for plan in plans.values():
        for step in plan.steps:
            found.setdefault(step.writes.name, []).append((plan.flow, step))
    return found


def _writers(registry: "Registry", steps: Iterable[tuple[str, PlannedStep]]) -> list[_Writer]:
    return [
        _Writer(
            flow,
            step,
            registry.of_flow(flow).action(f"{step.action}@{step.version}"),
            registry.flow(flow).tables.get(step.writes.name),
        )
        for flow, step in steps
    ]


def _table(name: str, writers: list[_Writer], above: Mapping[str, CatalogTable], values: KnownValues) -> CatalogTable:
    first = writers[0]
    meaning = first.meaning
    for other in writers[1:]:  # of a table that several steps write, each writes some columns
        meaning = meaning.over(other.meaning)
    written = first.step.writes
    event_time_option = first.options.event_time if first.options is not None else None
    names = written.column_names
    return CatalogTable(
        name=name,
        flow=first.flow,
        action=first.action.action,
        columns=tuple(_columns(name, writers, meaning, above, values)),
        primary_key=written.primary_key,
        event_time=event_time_option.lower()
        if event_time_option
        else written.event_time and written.event_time.lower(),
        description=meaning.description,
        synonyms=meaning.synonyms,
        measures=dict(meaning.measures),
        dimensions={n: d.model_copy(update={"column": d.on(n, names)}) for n, d in meaning.dimensions.items()},
        upstream=tuple(dict.fromkeys(read.table for w in writers for read in w.step.reads if "." in read.table)),
        sharing=meaning.ai.decided,
    )


def _columns(
    table: str, writers: list[_Writer], meaning: Meaning, above: Mapping[str, CatalogTable], values: KnownValues
) -> Iterator[CatalogColumn]:
    said = {column.lower(): of for column, of in meaning.columns.items()}
    copies = {column: origin for writer in reversed(writers) for column, origin in writer.step.copies.items()}
    shown = _examples(writers)
    for column in writers[0].step.writes.columns:
        if not column.name.startswith("__"):
            origin = _origin(copies.get(column.name), above)
            own, known = said.get(column.name, _NOTHING_SAID), values.get((table, column.name))
            yield _column(column, own, origin, known, shown.get(column.name, ()))


def _origin(
    origin: tuple[str, str] | None, above: Mapping[str, CatalogTable]
) -> tuple[tuple[str, str], CatalogColumn] | None:
    """The column of a table that a column is copied from; None: it is none, or that of a source."""
    if origin is None or origin[0] not in above:
        return None
    table, name = origin
    column = next((c for c in above[table].columns if c.name == name), None)
    return ((table, name), column) if column is not None else None


def _column(
    column: Column,
    own: ColumnMeaning,
    origin: tuple[tuple[str, str], CatalogColumn] | None,
    known: Collection[str] | None,
    shown: Iterable[str],
) -> CatalogColumn:
    above = origin[1] if origin is not None else _NOTHING_ABOVE
    words, is_open = _values(own, above, known, shown)
    return CatalogColumn(
        name=column.name,
        type=column.type,
        nullable=column.nullable,
        description=own.description or above.description,
        synonyms=own.synonyms or above.synonyms,
        unit=own.unit if own.unit is not None else above.unit,
        values=words,
        open_values=is_open,
        references=_split(own.references) if own.references is not None else above.references,
        origin=origin[0] if origin is not None else None,
    )


def _values(
    own: ColumnMeaning, above: CatalogColumn, known: Collection[str] | None, shown: Iterable[str]
) -> tuple[dict[str, tuple[str, ...]], bool]:
    """Value → the words for it, and whether there may be others."""
    words, is_open = dict(above.values), above.open_values
    if own.values:
        words, is_open = {code: _words(code, said) for code, said in own.values.items()}, False
    if known is not None:
        # What somebody called a value stays, though no row has it now.
        return {**{text: (text,) for text in sorted(known)}, **words}, False
    return ({**{text: (text,) for text in shown}, **words} if is_open else words), is_open


def _words(code: str, said: str | tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((code, *((said,) if isinstance(said, str) else said))))


def _split(reference: str) -> tuple[str, str]:
    table, _, column = reference.rpartition(".")
    return table, column.lower()


def _examples(writers: list[_Writer]) -> dict[str, list[str]]:
    """Column → the texts that rows of it have in the examples of its actions, in order."""
    found: dict[str, set[str]] = {}
    for writer in writers:
        texts = {column.name for column in writer.step.columns if column.type == "string"}
        for row in (row for example in writer.action.examples for row in example.expect) if texts else ():
            for name, value in row.items():
                if name.lower() in texts and isinstance(value, str):
                    found.setdefault(name.lower(), set()).add(value)
    return {name: sorted(column_texts) for name, column_texts in found.items()}
