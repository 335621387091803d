"""What of a project may be shown to a client, which hands it to a language model.

`planner/sharing.py` decides it; here it is asked for, and what may not be shown is refused or replaced.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from streamhouse.errors import NotSharedError, UnknownTableError, did_you_mean
from streamhouse.mcp_server.known import catalog_of, is_denied
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow
from streamhouse.model.plan import QUARANTINE
from streamhouse.planner.catalog import Catalog, CatalogTable
from streamhouse.planner.sharing import Names, hidden_tables, shared_catalog
from streamhouse.registry import Registry
from streamhouse.ui.desk import Desk

WITHHELD = "(withheld: it is about a table whose schema may not be shown)"
"""What is shown instead of a text that names such a table."""


@dataclass(frozen=True)
class Shared:
    """The part of a project that may be shown.

    Attributes:
        every: All tables, shown or not.
    """

    every: Catalog
    registry: Registry

    @classmethod
    def of(cls, desk: Desk) -> "Shared":
        """As the files and the state store are now."""
        registry = desk.registry
        return cls(catalog_of(desk, registry), registry)

    @cached_property
    def hidden(self) -> frozenset[str]:
        """Tables whose schema may not be shown."""
        return hidden_tables(self.every)

    @cached_property
    def catalog(self) -> Catalog:
        """What a client may know, and the planner may use for it."""
        return shared_catalog(self.every, self.flows.values())

    @property
    def tables(self) -> Mapping[str, CatalogTable]:
        """Tables whose schema may be shown; those that keep their rows back without texts that only rows have."""
        return self.catalog.tables

    @property
    def actions(self) -> Mapping[str, Action]:
        """Actions that neither make nor read a table whose schema may not be shown."""
        return self.catalog.actions

    @cached_property
    def names(self) -> Names:
        """What no text may carry."""
        shown_names = {*self.flows, *self.actions}
        hidden_names = set(self.registry.action_names) - self.actions.keys()
        for flow in self.flows.values():
            shown_names.update(self.sources_of(flow))
            hidden_names.update(flow.sources)  # those that may be shown are taken out again
        return Names.of(self.every, shown_names, hidden_names)

    def sources_of(self, flow: Flow) -> tuple[str, ...]:
        """The sources of a flow as its file has it, as `sources`."""
        reads = [(read.table, step.writes) for step in flow.steps for read in step.reads.values()]
        return self.sources(flow.sources, reads)

    def sources(self, names: Iterable[str], reads: Iterable[tuple[str, str]]) -> tuple[str, ...]:
        """Some sources of a flow, but for those that only steps read which write tables that may not be shown.

        Args:
            names: Of the sources.
            reads: What each step of the flow reads, and the table that it writes.
        """
        pairs = set(reads)
        hidden = {source for source, table in pairs if not self.sees(table)}
        return tuple(name for name in names if name not in hidden - {s for s, table in pairs if self.sees(table)})

    @property
    def flows(self) -> Mapping[str, Flow]:
        """All flows; their steps may name tables that may not be shown."""
        return self.registry.flows

    def sees(self, table: str) -> bool:
        """Whether a table's schema may be shown; what is no table of ours may."""
        return table.removesuffix(QUARANTINE) not in self.hidden

    def gives_rows(self, table: str) -> bool:
        """Whether a table's rows may be shown."""
        known = self.every.tables.get(table.removesuffix(QUARANTINE))
        return known is not None and known.sharing.of_schema and known.sharing.of_rows

    def require_schema(self, table: str) -> None:
        """Refuse a table that is not there, or may not be shown.

        Raises:
            UnknownTableError: there is none of the name.
            NotSharedError: its schema may not be shown.
        """
        name = table.removesuffix(QUARANTINE)
        if name in self.hidden:
            raise NotSharedError(
                f"the schema of '{table}' may not be shown: it says `ai: {{schema: denied}}`",
                hint="a person can look at it: streamhouse ui",
            )
        if name not in self.every.tables:
            raise UnknownTableError(
                f"unknown table '{table}'", hint=did_you_mean(table, self.tables, "search for it with 'search'")
            )

    def require_rows(self, tables: Iterable[str]) -> None:
        """Refuse to tell rows that come from a table which does not let them out.

        Raises:
            NotSharedError: one of the tables does not.
        """
        withheld_tables = sorted(table for table in tables if not self.gives_rows(table))
        if withheld_tables:
            raise NotSharedError(
                f"rows of {', '.join(withheld_tables)} may not be shown: "
                "only tables that say `ai: {rows: allowed}` let them out",
                hint="a person can query them: streamhouse query; or write `ai: {rows: allowed}` for the table",
            )

    def cleaned(self, text: str) -> str:
        """A text, or in its place that it is about a table that may not be shown."""
        return WITHHELD if self.names_hidden(text) else text

    def cleaned_sql(self, text: str) -> str:
        """SQL of somebody, or in its place the same: a column of another name may be written there like any word."""
        return WITHHELD if self.names.in_text(text) else text

    def names_hidden(self, text: str) -> bool:
        """Whether a text names a table that may not be shown, or what only such a table has."""
        return self.names.in_message(text)

    def masked(self, text: str) -> str:
        """A name or a phrase, with what it names of such tables left out."""
        return self.names.masked_message(text)

    def left_out(self, count: int, what: str) -> tuple[str, ...]:
        """What an answer says of its parts that may not be shown."""
        return (f"{count} {what}: of tables whose schema may not be shown",) if count else ()

    def keeps_back(self, text: str, file: str | None) -> bool:
        """Whether a message about a file may not be shown: it names such a table, or the file says so of its own."""
        if self.names_hidden(text):
            return True
        found = self.registry.files.get(file) if file is not None else None
        if found is None or found.content is None:
            return False
        # A broken file defines nothing, so what it says of itself is looked for in its text.
        return file in self._withheld_files or is_denied(found.content.decode(errors="replace"))

    @cached_property
    def _withheld_files(self) -> frozenset[str]:
        """Files of actions that make or read a table that may not be shown."""
        return frozenset(known.file for known in self.registry.found if known.name not in self.actions)


class Unrestricted(Shared):
    """For a person at a terminal of the project, who may read its files and its state store anyway."""

    @cached_property
    def hidden(self) -> frozenset[str]:
        """None."""
        return frozenset()

    @property
    def catalog(self) -> Catalog:
        """All of it."""
        return self.every

    def gives_rows(self, table: str) -> bool:  # noqa: ARG002
        """Always."""
        return True

    def cleaned(self, text: str) -> str:
        """The text."""
        return text

    def masked(self, text: str) -> str:
        """The text."""
        return text
