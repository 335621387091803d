"""The text of a new action: header and SQL, the same text for the same Request."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp
from sqlglot.optimizer.scope import traverse_scope

from streamhouse.model.action import Parameter
from streamhouse.model.types import Layer
from streamhouse.planner.catalog import Catalog
from streamhouse.planner.compose import Composed
from streamhouse.planner.naming import kind_of
from streamhouse.planner.sql.readable import readable
from streamhouse.registry.yaml_edits.write import block, entry, item, prose, scalar
from streamhouse.sql.dialect import quote_names, render_lines
from streamhouse.sql.schema import base_table


@dataclass(frozen=True)
class NewAction:
    """What the file of an action says.

    Attributes:
        sql: Over ports.
        inputs: Port → column → type, only those that are used.
        reads: Port → table.
        key: Primary key of the output; empty: rows are only appended.
        nullable: Columns of the key that may be NULL in the query.
        columns: Output column → its meaning, as the header has it.
        expect: Name → expectation, as the header has it.
        examples: As the header has them.
    """

    name: str
    layer: Layer
    description: str
    sql: exp.Query
    inputs: Mapping[str, Mapping[str, str]]
    reads: Mapping[str, str]
    params: Mapping[str, Parameter]
    key: tuple[str, ...] = ()
    event_time: str | None = None
    columns: Mapping[str, Mapping[str, Any]] | None = None
    expect: Mapping[str, Mapping[str, Any]] | None = None
    examples: tuple[Mapping[str, Any], ...] = ()

    @property
    def path(self) -> str:
        """Of its file, below the project's folder."""
        return f"actions/{kind_of(self.layer).value}/{self.name}.sql"

    def with_examples(self, examples: tuple[Mapping[str, Any], ...]) -> "NewAction":
        """The same action with other examples."""
        return replace(self, examples=examples)

    @property
    def text(self) -> str:
        """Of its file."""
        kind = kind_of(self.layer).value
        lines = [f"action: {self.name}", "version: 1.0.0", f"{f'step: {kind}':<36}# → {self.layer.value}"]
        lines += prose("description", self.description)
        lines += block("inputs", self.inputs)
        if self.params:
            lines += block("params", {name: _parameter(one) for name, one in self.params.items()})
        output: dict[str, Any] = {"primary_key": list(self.key)} if self.key else {}
        if self.event_time:
            output["event_time"] = self.event_time
        lines += entry("output", output) if output else []
        lines += block("columns", self.columns) if self.columns else []
        lines += block("expect", self.expect) if self.expect else []
        lines += ["examples:", *(part for one in self.examples for part in _example(one))] if self.examples else []
        return "\n".join(["/* ---", *lines, "--- */", render_lines(readable(self.sql))]) + "\n"


def ports_of(composed: Composed, catalog: Catalog) -> tuple[exp.Query, dict[str, dict[str, str]], dict[str, str]]:
    """The query over ports, what each port takes, and what it reads.

    A port is called as its table; where two layers have tables of one name, as layer and table.
    """
    tree = composed.query.copy()
    names = sorted({table_name(table) for table in tree.find_all(exp.Table) if table.db})
    short = [name.partition(".")[2] for name in names]
    ports = {
        name: stem if short.count(stem) == 1 else name.replace(".", "_")
        for name, stem in zip(names, short, strict=True)
    }
    used: dict[str, set[str]] = {name: set() for name in names}
    for scope in traverse_scope(tree):
        for column in scope.columns:
            table = base_table(column, scope)
            if table is not None and table.db:
                used[table_name(table)].add(column.name)
    for table in list(tree.find_all(exp.Table)):
        if table.db:
            port = ports[table_name(table)]
            table.replace(exp.alias_(exp.Table(this=exp.to_identifier(port)), table.alias or port, table=True))
    quote_names(tree)
    inputs: dict[str, dict[str, str]] = {}
    for name in names:
        columns = catalog.tables[name].columns
        taken = [c for c in columns if c.name in used[name]] or list(columns[:1])
        inputs[ports[name]] = {c.name: c.type for c in taken}
    return tree, inputs, {port: name for name, port in ports.items()}


def table_name(table: exp.Table) -> str:
    """`layer.name` of a table in a tree."""
    return f"{table.db}.{table.name}"


def _parameter(one: Parameter) -> dict[str, Any]:
    return {"type": one.type, "default": one.default, "description": one.description}


def _example(one: Mapping[str, Any]) -> list[str]:
    lines = ["  - given:"]
    for port, rows in one["given"].items():
        lines += [f"      {scalar(port)}: []"] if not rows else [f"      {scalar(port)}:"]
        lines += [part for row in rows for part in item(row, 8)]
    expected = one["expect"]
    lines += ["    expect: []"] if not expected else ["    expect:"]
    return lines + [part for row in expected for part in item(row, 6)]
