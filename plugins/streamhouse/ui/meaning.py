"""What a table means, for the page."""

from streamhouse.planner.catalog import CatalogColumn, CatalogTable
from streamhouse.ui.answers import MeaningOfColumn, MeaningOfDimension, MeaningOfMeasure, MeaningOfTable


def meant(table: CatalogTable) -> MeaningOfTable:
    """What somebody said of a table and of its columns."""
    return MeaningOfTable(
        description=table.description,
        synonyms=table.synonyms,
        columns=tuple(
            _column(c) for c in table.columns if c.description or c.unit or c.synonyms or c.values or c.references
        ),
        measures=tuple(
            MeaningOfMeasure(name=name, sql=m.sql, unit=m.unit, description=m.description, synonyms=m.synonyms)
            for name, m in table.measures.items()
        ),
        dimensions=tuple(
            MeaningOfDimension(
                name=name, column=d.column, levels=d.hierarchy, description=d.description, synonyms=d.synonyms
            )
            for name, d in table.dimensions.items()
        ),
    )


def _column(c: CatalogColumn) -> MeaningOfColumn:
    return MeaningOfColumn(
        name=c.name,
        description=c.description,
        unit=c.unit,
        synonyms=c.synonyms,
        values=dict(c.values),
        references=".".join(c.references) if c.references else None,
    )
