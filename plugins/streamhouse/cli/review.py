"""What was found of the tables that a change built: their audit, and how they differ from what serves."""

from typing import TYPE_CHECKING

from streamhouse.cli.output import CommandOutput

if TYPE_CHECKING:
    from streamhouse.model.review import Difference, Review, TableReview


def show_review(review: "Review", output: CommandOutput) -> None:
    """Print every check, then the tables that differ with some rows of each kind."""
    output.table(
        ("audit", "table", "check", "found"),
        [(check.verdict, one.table, check.name, check.text) for one in review.tables for check in one.checks],
    )
    compared = [(one, one.difference) for one in review.tables if one.difference is not None]
    if compared:
        output.line()
        output.table(
            ("table", "old", "new", "compared", "equal", "changed", "only old", "only new", "differs in"),
            [_difference(one, found) for one, found in compared],
        )
    if rows := [row for one, found in compared for row in _examples(one, found)]:
        output.line()
        output.table(("table", "for example", "row", "old", "new"), rows)
    for note in review.notes:
        output.line(f"note: {note}", style="yellow")


def _difference(one: "TableReview", found: "Difference") -> tuple[object, ...]:
    return (
        one.table,
        f"v{one.old_version}",
        f"v{one.new_version}",
        _compared(found),
        found.equal,
        found.changed if found.by == "key" else None,
        found.only_old,
        found.only_new,
        _columns(found),
    )


def _examples(one: "TableReview", found: "Difference") -> list[tuple[object, ...]]:
    return [
        (one.table, kind.replace("_", " "), _values(sample.row), _values(sample.old), _values(sample.new))
        for kind, samples in found.samples.items()
        for sample in samples
    ]


def _compared(found: "Difference") -> str:
    part = "all" if found.one_in == 1 else f"1 in {found.one_in:,}"
    return f"{part} by key" if found.by == "key" else f"{part} rows"


def _columns(found: "Difference") -> str | None:
    parts = [f"{name}: {rows:,}" for name, rows in found.columns.items()]
    parts += [f"+{name}" for name in found.added] + [f"-{name}" for name in found.dropped]
    return ", ".join(parts) or None


def _values(values: dict[str, str | None]) -> str | None:
    return ", ".join(f"{name}={'NULL' if value is None else value}" for name, value in values.items()) or None
