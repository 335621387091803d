"""Where a noun of a wish lies: the column, of which table that the base reaches."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from streamhouse.planner.catalog import CatalogColumn
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.levels import (
    ANY_FORM,
    COMMON_WORD,
    ENDING,
    LAST_WORD_ANY_FORM,
    NEARLY_NAME,
    WHOLE_NAME,
)
from streamhouse.planner.language.lexicon import Mention, Sense
from streamhouse.planner.language.scope import TIMES, Reach, ReachableTables, is_number, key_column, spoken
from streamhouse.planner.language.tokens import singular, stem, stems
from streamhouse.planner.language.words import DIRECTIONS, is_past_form
from streamhouse.planner.request import ColumnRef, Reading

CLOSE = 0.75
"""Costs that differ less are as good as equal."""
_TEN = 10.0


class NotPlacedError(Exception):
    """A phrase has no place among the tables that a base reaches."""

    def __init__(self, phrase: str, why: str = "") -> None:
        super().__init__(phrase)
        self.phrase = phrase
        self.why = why


class UnclearError(Exception):
    """A phrase may mean several things, and the answers differ."""

    def __init__(self, text: str, phrase: str, choices: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.text = text
        self.phrase = phrase
        self.choices = tuple(choices)


class RefusedError(Exception):
    """What is asked for cannot be."""


@dataclass(frozen=True)
class Placed:
    """A column that the base reaches."""

    of: ColumnRef
    reach: Reach
    column: CatalogColumn
    cost: float
    value: str = ""
    used: tuple[int, ...] = ()  # starts of the mentions around that decided it

    @property
    def name(self) -> str:
        """Table and column, as a person writes them."""
        return f"{self.reach.table.name}.{self.column.name}"


@dataclass
class PlaceFinder:
    """Finds places in one scope, and notes what it decided."""

    scope: ReachableTables
    cues: tuple[str, ...] = ()
    cost: float = 0.0
    used: dict[str, None] = field(default_factory=dict)  # roles
    readings: list[Reading] = field(default_factory=list)
    assumptions: list[str] = field(default_factory=list)
    leftover: list[Mention] = field(default_factory=list)  # values that stood around a noun
    time: Placed | None = None  # the time that counts, where the wish names one: "tickets closed per day"

    def note(self, phrase: str, became: str) -> None:
        """Remember what a phrase became."""
        reading = Reading(phrase=phrase, became=became)
        if reading not in self.readings:
            self.readings.append(reading)

    def assume(self, text: str) -> None:
        """Remember what was taken for granted."""
        if text not in self.assumptions:
            self.assumptions.append(text)

    def use(self, placed: Placed) -> ColumnRef:
        """Take a place: its joins become part of the block."""
        for step in self.scope.chain(placed.of.role):
            self.used[step.role] = None
        return placed.of

    # -- columns ------------------------------------------------------------------------------------------------

    def column(self, noun: Noun, *, want: str = "any") -> Placed:
        """The column that a noun means; of what it means, only what is wanted: any, number, time, key.

        Raises:
            NotPlacedError: nothing that is reached has it.
            UnclearError: several columns are equally good.
        """
        found = self.columns(noun, want=want)
        if not found:
            raise NotPlacedError(noun.text)
        best = self._decided(noun, found, want)
        self.cost += best.cost
        self._around(noun, best)
        return best

    def columns(self, noun: Noun, *, want: str = "any") -> list[Placed]:
        """All columns that a noun may mean, the best first; one for each meaning."""
        found: dict[tuple[str, str], Placed] = {}
        for sense in noun.head.senses:
            for placed in self._of_sense(sense, want):
                support = self._context_support(noun, placed)
                placed = Placed(placed.of, placed.reach, placed.column, placed.cost - support[0], used=support[1])  # noqa: PLW2901
                key = self._identity(placed)
                if key not in found or placed.cost < found[key].cost:
                    found[key] = placed
        return sorted(found.values(), key=lambda one: one.cost)

    def _identity(self, placed: Placed) -> tuple[str, str]:
        left = ".".join(step.key.columns[0] for step in self.scope.chain(placed.of.role) if step.key)
        root = self.scope.root(placed.reach.table.name, placed.column.name)
        same = self.scope.by_table.get(root[0], [])
        return (f"{root[0]}.{root[1]}", left if len(same) > 1 or self._twice(placed) else "")

    def _twice(self, placed: Placed) -> bool:
        return len(self.scope.by_table[placed.reach.table.name]) > 1

    def _of_sense(self, sense: Sense, want: str) -> Iterable[Placed]:
        for reach in self.scope.by_table.get(sense.table, ()):
            name = sense.column
            if sense.kind == "table":
                if want not in {"any", "key"}:
                    continue
                name = key_column(reach.table) or ""
            elif sense.kind != "column":
                continue
            if not name:
                continue
            placed = self._at(reach, name, (1 - sense.quality) * _TEN)
            if _wanted(placed.column, want):
                yield placed

    def _at(self, reach: Reach, name: str, cost: float) -> Placed:
        """A column of a reached table; of its key, the column that points to it, for no join is needed then."""
        distance = 0.8 * reach.depth
        if reach.key and name in reach.key.to_columns:
            left = self.scope.reaches[reach.left]
            own = reach.key.columns[reach.key.to_columns.index(name)]
            return Placed(ColumnRef(column=own, role=left.role), left, left.table.column(own), cost + distance - 0.8)
        return Placed(ColumnRef(column=name, role=reach.role), reach, reach.table.column(name), cost + distance)

    def _context_support(self, noun: Noun, placed: Placed) -> tuple[float, tuple[int, ...]]:
        """How much the words around a noun speak for a place, and which of them did."""
        bonus, used = 0.0, []
        parts = self._parts(placed)
        for mention in noun.around:
            if self._speaks_for(mention, placed):
                bonus += 4.0 if _owns(mention, noun, placed) else 2.0
                used.append(mention.start)
        wanted = {DIRECTIONS[cue] for cue in noun.cues if cue in DIRECTIONS}
        have = {DIRECTIONS[part] for part in parts if part in DIRECTIONS}
        if wanted and have:
            bonus += 1.5 if wanted & have else -1.5
        return bonus, tuple(used)

    def directed(self, found: list[Placed], cues: tuple[str, ...]) -> list[Placed]:
        """Of several places those whose role the words near by name: "from" the start, "to" the end."""
        wanted = {DIRECTIONS[cue] for cue in cues if cue in DIRECTIONS}
        return [one for one in found if wanted & {DIRECTIONS[p] for p in self._parts(one) if p in DIRECTIONS}]

    def _parts(self, placed: Placed) -> tuple[str, ...]:
        parts = [*placed.column.name.split("_")]
        for step in self.scope.chain(placed.of.role):
            parts += step.parts
        return tuple(parts)

    def _speaks_for(self, mention: Mention, placed: Placed) -> bool:
        chain = self.scope.chain(placed.of.role)
        for sense in mention.senses:
            if sense.kind == "table" and sense.table == placed.reach.table.name and sense.quality >= COMMON_WORD:
                return True
            if sense.kind == "column" and any(
                step.key and step.key.table == sense.table and sense.column in step.key.columns for step in chain
            ):
                return True
            own = (sense.table, sense.column) == (placed.reach.table.name, placed.column.name)
            if sense.kind == "column" and own and sense.quality >= NEARLY_NAME:
                return True
            target = placed.column.references
            if sense.kind == "table" and target and target[0] == sense.table:
                return True
        return set(stems(" ".join(mention.words))) <= {stem(part) for part in self._parts(placed)}

    def _decided(self, noun: Noun, found: list[Placed], want: str = "any") -> Placed:
        best = found[0]
        rivals = [one for one in found[1:] if one.cost - best.cost < CLOSE]
        amounts = [one for one in (best, *rivals) if one.column.name not in one.reach.table.primary_key]
        if want == "number" and amounts:
            best, *rivals = amounts  # "average fee" is of no number of an invoice
        if rivals:
            choices = [self.called(one) for one in (best, *rivals)]
            raise UnclearError(f"'{noun.text}' may mean {_or(choices)}: which one?", noun.text, choices)
        return best

    def called(self, placed: Placed) -> str:
        """Words that mean one place only, as far as there are some."""
        chain = self.scope.chain(placed.of.role)
        if chain and len(self.scope.by_table[placed.reach.table.name]) > 1:
            return f"{spoken(placed.column.name)} of the {spoken(chain[-1].key.columns[0] if chain[-1].key else '')}"
        if not placed.of.role and placed.column.references:
            return spoken(placed.column.name)
        return placed.name

    def _around(self, noun: Noun, placed: Placed) -> None:
        """Words around a noun that did not choose its place are values, or name what the wish is about."""
        self.contexts(tuple(mention for mention in noun.around if mention.start not in placed.used))

    def contexts(self, mentions: Iterable[Mention]) -> None:
        """Place mentions that name no number and no group; "department" beside a department only says what it is.

        Raises:
            NotPlacedError: one has no place.
        """
        listed = tuple(mentions)
        valued = {(s.table, s.column) for m in listed for s in m.of_kind("value") if s.quality >= ANY_FORM}
        for mention in listed:
            designates = any((s.table, s.column) in valued for s in mention.of_kind("column") if s.quality >= ENDING)
            if designates and not mention.of_kind("value"):
                continue
            self.context(mention)

    def context(self, mention: Mention) -> None:
        """Place a mention that names no number and no group: a value that filters, or a table the rows are of.

        Raises:
            NotPlacedError: it is neither.
        """
        value = mention.of_kind("value")
        if mention.of_kind("state"):
            self.leftover.append(mention)
            return
        thing = mention.best_of("table")
        if self.is_base(mention) and thing >= max((s.quality for s in value), default=0.0) - 0.05:
            return
        if value and self._things_named(mention, thing, value[0].quality):
            return
        if (
            value
            and value[0].quality >= mention.best - 0.06
            and any(sense.table in self.scope.by_table for sense in value)
        ):
            self.leftover.append(mention)
            return
        if self.is_base(mention):
            return
        if any(
            sense.table in self.scope.by_table for sense in mention.of_kind("table") if sense.quality >= COMMON_WORD
        ):
            return
        if value and any(sense.table in self.scope.by_table for sense in value):
            self.leftover.append(mention)
            return
        for sense in mention.of_kind("column"):
            if sense.table == self.scope.base.name and sense.quality >= NEARLY_NAME:
                column = self.scope.base.column(sense.column)
                if column.type in TIMES and is_participle(mention) and column.name != self.scope.base.event_time:
                    self.leftover.append(mention)
                    return
                if column.references or column.name in self.scope.base.primary_key:
                    return
                if column.type in TIMES and is_participle(mention):
                    return
            column = self.scope.lexicon.catalog.tables[sense.table].column(sense.column)
            if (
                sense.table == self.scope.base.name
                and is_participle(mention)
                and (column.type == "string" or column.references or column.name.endswith("_id"))
            ):
                return
        raise NotPlacedError(mention.text)

    def _things_named(self, mention: Mention, thing: float, value: float) -> bool:
        """Whether a plural names a table that is read rather than a value: "electric cars", where a class is "car"."""
        word = mention.words[-1] if mention.words else ""
        reached = any(
            sense.table in self.scope.by_table for sense in mention.of_kind("table") if sense.quality >= thing
        )
        return reached and thing >= value - 0.05 and singular(word) != word and thing >= WHOLE_NAME

    def take_base(self, mention: Mention) -> None:
        """The rows of the base are what a mention names; less likely ones cost more."""
        base = self.scope.base.name
        best = max(
            (s.quality for s in mention.senses if s.table == base and (s.kind == "table" or counts(self.scope, s))),
            default=0.0,
        )
        self.cost += (1 - best) * _TEN

    def is_base(self, mention: Mention) -> bool:
        """Whether a mention names the rows of the base."""
        base = self.scope.base.name
        return any(
            sense.table == base
            and sense.quality >= LAST_WORD_ANY_FORM
            and (sense.kind == "table" or counts(self.scope, sense))
            for sense in mention.senses
        )

    # -- values -------------------------------------------------------------------------------------------------

    def values(self, mention: Mention, of: Placed | None = None) -> list[Placed]:
        """The columns that have a value, the best first; one for each meaning."""
        found: dict[tuple[str, str, str], Placed] = {}
        for sense in mention.of_kind("value"):
            for reach in self.scope.by_table.get(sense.table, ()):
                column = reach.table.column(sense.column)
                at = self._at(reach, sense.column, (1 - sense.quality) * _TEN)
                placed = Placed(at.of, at.reach, column, at.cost, sense.value)
                if of is not None and placed.of != of.of:
                    continue
                key = (*self._identity(placed), sense.value)
                if key not in found or placed.cost < found[key].cost:
                    found[key] = placed
        return sorted(found.values(), key=lambda one: one.cost)


def _owns(mention: Mention, noun: Noun, placed: Placed) -> bool:
    """Whether a thing is named right before its column: "technician name" is the name of no practice."""
    things = (sense for sense in mention.of_kind("table") if sense.quality >= WHOLE_NAME)
    behind = mention.end == noun.head.start and not is_participle(noun.head)  # "loans returned" are loans
    return behind and any(sense.table == placed.reach.table.name for sense in things)


def is_participle(mention: Mention) -> bool:
    """Whether a mention says what was done: "paid", "closed"."""
    return bool(mention.words) and is_past_form(mention.words[0])


def counts(scope: ReachableTables, sense: Sense) -> bool:
    """Whether a sense is the measure that counts rows of its table."""
    if sense.kind != "measure":
        return False
    sql = scope.lexicon.catalog.tables[sense.table].measures[sense.measure].sql
    return sql.replace(" ", "").upper() in {"COUNT(*)", "COUNT(1)"}


def _wanted(column: CatalogColumn, want: str) -> bool:
    if want == "number":
        return is_number(column) and column.references is None
    if want == "time":
        return column.type in TIMES
    return True


def _or(choices: list[str]) -> str:
    return ", ".join(choices[:-1]) + f" or {choices[-1]}" if len(choices) > 1 else "".join(choices)
