"""What tables and columns mean, written down once: descriptions, synonyms, units, known values, measures, dimensions.

All of it is optional and none of it is part of a plan: an edit of a meaning changes no row and no step. The Flow
Planner reads it, `validate` checks it, the page and `lineage` show it.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from streamhouse.model.types import TABLE_NAME, Frozen

COLUMN_OF_TABLE = rf"{TABLE_NAME.removesuffix('$')}\.[A-Za-z_][A-Za-z0-9_]*$"


class NamedMeaning(Frozen):
    """Something that people call by words of their own."""

    description: str = Field(default="", description="one sentence on what it is, for people and for the planner")
    synonyms: tuple[str, ...] = Field(default=(), description="other words that people use for it")


class ColumnMeaning(NamedMeaning):
    """What one column means."""

    unit: str | None = Field(
        default=None, description="unit of a number, such as cents, USD, minutes, km, percent, celsius"
    )
    values: dict[str, str | tuple[str, ...]] = Field(
        default_factory=dict, description="known code → the word, or words, that people use for it"
    )
    references: str | None = Field(
        default=None,
        pattern=COLUMN_OF_TABLE,
        description="the key column that it points to: layer.table.column",
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"description": data} if isinstance(data, str) else data

    def over(self, other: "ColumnMeaning") -> "ColumnMeaning":
        """This meaning, and where it says nothing that of `other`."""
        return other.model_copy(update=_said(self))


class MeasureMeaning(NamedMeaning):
    """A number that people ask for by name: an aggregate over the rows of its table."""

    sql: str = Field(description="an aggregate over the table's columns, such as SUM(revenue_cents) / 100")
    unit: str | None = Field(default=None, description="unit of the result")

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"sql": data} if isinstance(data, str) else data


class DimensionMeaning(NamedMeaning):
    """Something that people group and filter by.

    A hierarchy lists the levels from coarse to fine. Each is a column of the table, or a grain of the dimension's
    own column when that is a time: `month`, `day`, `hour`.
    """

    column: str | None = Field(
        default=None, description="its column; absent: the one with the dimension's name, else the finest level"
    )
    hierarchy: tuple[str, ...] = Field(
        default=(), description="levels from coarse to fine, such as region, city, store"
    )

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, data: Any) -> Any:
        return {"hierarchy": data} if isinstance(data, list | tuple) else data

    def on(self, name: str, columns: Collection[str]) -> str | None:
        """The column of a table that it is a dimension of; None: the table lacks it.

        Args:
            name: Of the dimension.
            columns: Of the table.
        """
        finest = self.hierarchy[-1:] if self.column is None else ()
        for candidate in (self.column or name, *finest):
            if candidate.lower() in columns:
                return candidate.lower()
        return None


class Sharing(Frozen):
    """What may leave this machine for a language model."""

    # `schema` is a method of pydantic's models, so the field has another name in code.
    of_schema: bool = Field(default=True, alias="schema", description="names, types and descriptions")
    of_rows: bool = Field(default=False, alias="rows", description="values of rows: examples, distinct values")

    model_config = Frozen.model_config | {"populate_by_name": True}


_WORDS = {"allowed": True, "denied": False}
Allowed = Annotated[
    bool | None,
    BeforeValidator(
        lambda word: _WORDS.get(word, word) if isinstance(word, str) else word,
        json_schema_input_type=Literal["allowed", "denied"] | bool | None,
    ),
]


class SharingRules(Frozen):
    """What somebody wrote of what may leave this machine; None: nothing."""

    of_schema: Allowed = Field(default=None, alias="schema", description="names, types and descriptions")
    of_rows: Allowed = Field(default=None, alias="rows", description="values of rows: examples, distinct values")

    model_config = Frozen.model_config | {"populate_by_name": True}

    def over(self, other: "SharingRules") -> "SharingRules":
        """These rules, and where they say nothing those of `other`."""
        return other.model_copy(update=_said(self))

    @property
    def decided(self) -> Sharing:
        """What holds, with the default where nobody said anything."""
        return Sharing.model_validate(_said(self))


class Described(NamedMeaning):
    """A file, or a part of one, that says what a table means beside other things."""

    columns: dict[str, ColumnMeaning] = Field(default_factory=dict, description="column → what it means")
    measures: dict[str, MeasureMeaning] = Field(
        default_factory=dict, description="named aggregates over the table's rows"
    )
    dimensions: dict[str, DimensionMeaning] = Field(
        default_factory=dict, description="what people group by, with levels"
    )
    ai: SharingRules = Field(default=SharingRules(), description="what may be sent to a language model")

    @property
    def meaning(self) -> "Meaning":
        """Only that part."""
        return Meaning.model_construct(**{name: getattr(self, name) for name in Meaning.model_fields})


class Meaning(Described):
    """What one table means.

    The header of an action gives it for the table that the action makes; `tables:` of a flow gives it for a
    table by name and wins, key by key. A column without a meaning of its own has that of the column it is
    copied from.
    """

    def over(self, other: "Meaning") -> Self:
        """This meaning, and where it says nothing that of `other`; columns, measures and dimensions by name."""
        columns = {
            name: self.columns.get(name, ColumnMeaning()).over(other.columns.get(name, ColumnMeaning()))
            for name in {**other.columns, **self.columns}
        }
        return self.model_copy(
            update={
                "description": self.description or other.description,
                "synonyms": self.synonyms or other.synonyms,
                "columns": columns,
                "measures": {**other.measures, **self.measures},
                "dimensions": {**other.dimensions, **self.dimensions},
                "ai": self.ai.over(other.ai),
            }
        )


def _said(model: Frozen) -> dict[str, Any]:
    # By value: what the cache gives back has every field set.
    return {name: value for name, value in model if value not in (None, "", (), {})}


__all__ = [
    "ColumnMeaning",
    "Described",
    "DimensionMeaning",
    "Meaning",
    "MeasureMeaning",
    "NamedMeaning",
    "Sharing",
    "SharingRules",
]
