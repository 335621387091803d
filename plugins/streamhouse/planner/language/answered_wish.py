"""A wish with the answer that it would get: what the checks of doubt look at, each part made once."""

from dataclasses import dataclass
from functools import cached_property

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.mentions import mentions_of, tables_named
from streamhouse.planner.language.scope import ReachableTables
from streamhouse.planner.language.shape import Shaped
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.request import Block, ColumnRef


@dataclass(frozen=True)
class AnsweredWish:
    """A wish as it was read.

    Attributes:
        text: As a person wrote it.
        tokens: Of the wish, as the rules took them.
        draft: Its clauses.
        found: The answer that was made of them.
    """

    text: str
    tokens: tuple[Token, ...]
    draft: Draft
    found: Shaped

    def word(self, at: int) -> str:
        """The word of a token; empty where there is none, as behind the names that a wish begins with apart from it."""
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    @property
    def words(self) -> list[str]:
        """The words of its tokens."""
        return [token.word for token in self.tokens]

    @property
    def block(self) -> Block:
        """The outer block of the answer."""
        return self.found.block

    @property
    def base(self) -> CatalogTable:
        """The table whose rows are read."""
        return self.found.bench.base

    @property
    def scope(self) -> ReachableTables:
        """The tables that the answer can reach from there."""
        return self.found.bench.places.scope

    @property
    def lexicon(self) -> Lexicon:
        """The names of the catalog."""
        return self.scope.lexicon

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """All names of the catalog in the wish, in a fixed order."""
        return tuple(mentions_of(self.draft))

    @cached_property
    def things(self) -> frozenset[str]:
        """The tables that the wish calls by their whole name."""
        return frozenset(tables_named(self.mentions, WHOLE_NAME))

    @cached_property
    def shown(self) -> frozenset[tuple[str, str]]:
        """Table and column of all that is shown or grouped by; none where the rows of an inner block are aggregated."""
        reaches = self.scope.reaches
        columns = (*self.block.dimensions, *self.block.columns) if self.block.inner is None else ()
        return frozenset(
            (reaches[one.of.role].table.name, one.of.column)
            for one in columns
            if isinstance(one.of, ColumnRef) and one.of.role in reaches
        )
