"""What a table means, as text and as JSON, for the commands that show it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamhouse.cli.output import CommandOutput
    from streamhouse.planner.catalog import CatalogColumn, CatalogTable


def document(table: "CatalogTable", column: str | None = None) -> dict[str, Any]:
    """Only what somebody said, or what is inherited; of one column, where it is given."""
    columns = {c.name: said for c in table.columns if column in (None, c.name) and (said := _of_column(c))}
    if column is not None:
        return columns.get(column, {})
    return _without_empty(
        description=table.description,
        synonyms=list(table.synonyms),
        event_time=table.event_time,
        columns=columns,
        measures={
            name: _without_empty(sql=m.sql, unit=m.unit, description=m.description, synonyms=list(m.synonyms))
            for name, m in table.measures.items()
        },
        dimensions={
            name: _without_empty(
                column=d.column, hierarchy=list(d.hierarchy), description=d.description, synonyms=list(d.synonyms)
            )
            for name, d in table.dimensions.items()
        },
    )


def _of_column(c: "CatalogColumn") -> dict[str, Any]:
    return _without_empty(
        description=c.description,
        unit=c.unit,
        synonyms=list(c.synonyms),
        values={value: list(words) for value, words in c.values.items()},
        references=".".join(c.references) if c.references else None,
        copied_from=".".join(c.origin) if c.origin else None,
    )


def show(output: "CommandOutput", table: "CatalogTable", column: str | None = None) -> None:
    """Print tables of what there is; nothing, where nobody said anything."""
    said = [c for c in table.columns if c.description or c.unit or c.synonyms or c.values or c.references]
    if rows := [_cells(c) for c in said if column in (None, c.name)]:
        output.table(("column", "unit", "means", "also called", "values", "points to"), rows)
        output.line()
    if column is None:
        _show_measures(output, table)
        _show_dimensions(output, table)


def _cells(c: "CatalogColumn") -> tuple[object, ...]:
    return (
        c.name,
        c.unit,
        c.description,
        ", ".join(c.synonyms),
        ", ".join(" = ".join(words) for words in c.values.values()),
        ".".join(c.references) if c.references else None,
    )


def _show_measures(output: "CommandOutput", table: "CatalogTable") -> None:
    if table.measures:
        output.table(
            ("measure", "unit", "SQL", "means", "also called"),
            [(n, m.unit, m.sql, m.description, ", ".join(m.synonyms)) for n, m in table.measures.items()],
        )
        output.line()


def _show_dimensions(output: "CommandOutput", table: "CatalogTable") -> None:
    if table.dimensions:
        output.table(
            ("dimension", "column", "levels", "means", "also called"),
            [
                (n, d.column, " → ".join(d.hierarchy), d.description, ", ".join(d.synonyms))
                for n, d in table.dimensions.items()
            ],
        )
        output.line()


def _without_empty(**said: Any) -> dict[str, Any]:
    return {name: value for name, value in said.items() if value not in (None, "", [], {})}
