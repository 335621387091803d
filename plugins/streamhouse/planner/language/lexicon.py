"""The words of a catalog: which tables, columns, measures and values each phrase may mean."""

import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rapidfuzz import fuzz, process
from rapidfuzz.distance import OSA

from streamhouse.planner.catalog import Catalog, CatalogTable, ForeignKey
from streamhouse.planner.language.levels import ANY_FORM, NAME, NEARLY_NAME, SAME_FORM, WHOLE_NAME
from streamhouse.planner.language.same_stems import is_other_word
from streamhouse.planner.language.senses import Entry, Sense, entity_of, less, senses_of, texts_of
from streamhouse.planner.language.tokens import Token, form, singular, stem, stems, words_of
from streamhouse.planner.language.words import ROLE_WORDS, SOFT_SYNONYMS, is_past_form

_LONGEST = 6
_LOST_E = re.compile(r"(?<=[bcdfghjklmnpqstvwxz])r(?=s?$)")  # before the last "r" of who does something
_AUXILIARIES = frozenset({"is", "are", "was", "were", "been", "be", "has", "have", "had", "being"})
_OTHER_FORM = 0.12  # what a phrase is worth less in another form than the catalog's: "viewed" for "view"
_SILENT = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "is",
        "in",
        "to",
        "for",
        "by",
        "on",
        "at",
        "and",
        "or",
        "as",
        "it",
        "its",
        "with",
        "from",
        "that",
        "which",
        "this",
        "was",
        "were",
        "be",
        "been",
        "when",
        "where",
        "who",
        "how",
        "each",
        "one",
        "per",
        "not",
        "no",
        "if",
        "has",
        "had",
        "one's",
    ]
)


@dataclass(frozen=True)
class Mention:
    """Some tokens of a wish, and what they may mean, the most likely first."""

    start: int
    end: int
    text: str
    senses: tuple[Sense, ...]
    words: tuple[str, ...] = ()
    spelled: str = ""  # how the catalog spells it, where the wish has a typo
    cues: tuple[str, ...] = ()  # of a value: words before it that choose between two roles, such as "from"

    def of_kind(self, *kinds: str) -> tuple[Sense, ...]:
        """The senses of some kinds."""
        return tuple(sense for sense in self.senses if sense.kind in kinds)

    def tables(self, least: float = 0.0) -> set[str]:
        """The tables that it names so well at least."""
        return {sense.table for sense in self.of_kind("table") if sense.quality >= least}

    @property
    def best(self) -> float:
        """The highest quality of a sense."""
        return max((sense.quality for sense in self.senses), default=0.0)

    def best_of(self, *kinds: str) -> float:
        """The highest quality of a sense of some kinds; 0: it has none."""
        return max((sense.quality for sense in self.of_kind(*kinds)), default=0.0)

    @property
    def is_plural(self) -> bool:
        """Whether its last word is a plural."""
        return bool(self.words) and singular(self.words[-1]) != self.words[-1]


Phrase = tuple[str, ...]
Forms = tuple[str, ...]
_ANY: Forms = ("*",)


@dataclass
class Lexicon:
    """The index of one catalog. Built once, only read afterwards."""

    catalog: Catalog
    entries: dict[Phrase, list[tuple[Forms, Sense]]] = field(default_factory=dict)  # stems → spelling, meaning
    vocabulary: dict[str, str] = field(default_factory=dict)  # word → its stem
    keys: dict[str, list[ForeignKey]] = field(default_factory=dict)
    children: dict[str, list[ForeignKey]] = field(default_factory=dict)

    @cached_property
    def described(self) -> dict[str, list[Sense]]:
        """Stem → columns and tables whose description has a word of it."""
        found: dict[str, list[Sense]] = {}
        for table in self.catalog.tables.values():
            _describe(table.description, Sense("table", table.name, quality=0.3), found)
            for column in table.columns:
                _describe(column.description, Sense("column", table.name, column.name, quality=0.3), found)
        return found

    @cached_property
    def by_stem(self) -> dict[str, list[Phrase]]:
        """Stem → phrases of several words that have it."""
        found: dict[str, list[Phrase]] = {}
        for phrase in self.entries:
            for part in set(phrase) if len(phrase) > 1 else ():
                found.setdefault(part, []).append(phrase)
        return found

    def meanings(self, phrase: Phrase, forms: Forms = _ANY) -> tuple[Sense, ...]:
        """What a phrase may mean, the most likely first; in another form than the catalog's it is less likely."""
        best: dict[Sense, float] = {}
        entries = self.entries.get(phrase, ())
        named = forms != _ANY and any(
            forms == spelled and s.kind == "table" and s.quality >= NAME for spelled, s in entries
        )
        for spelled, sense in entries:
            same = _ANY in (forms, spelled) or forms == spelled
            if named and not same and (sense.kind in {"table", "measure"} or self._numbers_rows(sense)):
                continue  # a translator is no translation
            if not same and is_other_word(spelled, forms):
                continue
            if not same and sense.kind == "table" and _is_doer(spelled) and not _is_doer(forms):
                continue  # who borrows is no borrower that the catalog calls so
            quality = sense.quality if same else sense.quality - _OTHER_FORM
            identity = less(sense, 0.0)
            best[identity] = max(best.get(identity, 0.0), quality)
        return tuple(less(one, best[one]) for one in sorted(best, key=lambda one: -best[one]))

    def _numbers_rows(self, sense: Sense) -> bool:
        """Whether a sense is the key of a table: adopters are not counted by the numbers of adoptions."""
        return sense.kind == "column" and self.catalog.tables[sense.table].primary_key == (sense.column,)

    def is_flag(self, sense: Sense) -> bool:
        """Whether a sense is a column of yes or no, or a value of one."""
        return bool(sense.column) and self.catalog.tables[sense.table].column(sense.column).type == "boolean"

    def mention(self, tokens: tuple[Token, ...], at: int, longest: int = _LONGEST) -> Mention | None:
        """The longest phrase of the catalog that begins at a token."""
        for length in range(min(longest, len(tokens) - at), 0, -1):
            piece = tokens[at : at + length]
            pointed = any(token.kind == "symbol" for token in piece)
            senses = self._pointed(piece) if pointed else self._senses(piece)
            if length > 1 and _CONNECTING & {piece[0].word, piece[-1].word} and not _is_whole(senses):
                continue  # a part of a longer name, such as "revenue per" of revenue_per_household
            if length > 1 and self._says_what_was_done(piece, senses):
                continue
            if length > 1 and self._cuts_a_name(tokens, at + length, senses):
                continue
            if length == 1 and piece[0].word == "since" and senses and senses[0].quality < NAME:
                continue  # "since March" begins a time, also where a column is called `customer_since`
            if any(token.word == "per" for token in piece[1:-1]):
                continue  # "revenue per household" groups; the measure of that name is asked about: see `rate`
            if senses:
                return Mention(at, at + length, " ".join(t.text for t in piece), senses, tuple(t.word for t in piece))
        return None

    def _says_what_was_done(self, piece: tuple[Token, ...], senses: tuple[Sense, ...]) -> bool:
        """Whether rows with what was done are no measure of a similar name: "tickets sold" are no "ticket sales"."""
        done = is_past_form(piece[-1].word)
        if not done or not senses or any(s.kind != "measure" or s.quality >= ANY_FORM for s in senses):
            return False
        rows = self._senses(piece[:-1])
        return any(sense.kind == "table" and sense.quality >= WHOLE_NAME for sense in rows)

    def _cuts_a_name(self, tokens: tuple[Token, ...], end: int, senses: tuple[Sense, ...]) -> bool:
        """Whether a phrase in another form takes the first word of a name: "mean waiting" of "mean waiting time"."""
        if not senses or senses[0].quality >= SAME_FORM or end >= len(tokens) or tokens[end].kind != "word":
            return False
        longer = self._senses(tokens[end - 1 : end + 1])
        return bool(longer) and longer[0].quality >= NAME

    def _pointed(self, piece: tuple[Token, ...]) -> tuple[Sense, ...]:
        """Values with a point within, such as "Dr. Smith"."""
        plain = tuple(token for token in piece if token.kind != "symbol")
        inside = all(token.word == "." for token in piece if token.kind == "symbol")
        if not inside or len(plain) < 2 or "symbol" in {piece[0].kind, piece[-1].kind} or len(piece) - len(plain) > 1:
            return ()
        return tuple(s for s in self._senses(plain) if s.kind == "value" and "." in s.value and s.quality >= WHOLE_NAME)

    def rate(self, tokens: tuple[Token, ...], kind: str = "measure") -> "Rate | None":
        """The first "A per B" of a wish that a measure, or a column, is called, too; None: there is none."""
        for at, token in enumerate(tokens):
            if token.word != "per" or at == 0:
                continue
            for first in range(max(0, at - _LONGEST), at):
                for end in range(min(len(tokens), at + _LONGEST), at + 1, -1):
                    piece = tokens[first:end]
                    senses = () if any(one.kind == "symbol" for one in piece) else self._senses(piece)
                    whole = [sense for sense in senses if sense.kind == kind and sense.quality >= WHOLE_NAME]
                    if whole:
                        return Rate(first, at, end, whole[0])
        return None

    def _senses(self, piece: tuple[Token, ...]) -> tuple[Sense, ...]:
        first = piece[0]
        if len(piece) == 1 and first.kind == "name":
            return self._named(first.word)
        if len(piece) == 1 and first.kind in {"number", "date", "clock"}:
            return ()
        if len(piece) == 1 and len(first.word) == 1 and not first.text.isupper():
            return ()
        if first.kind == "quoted":
            found = self.meanings(stems(first.word)) if len(piece) == 1 else ()
            return tuple(sense for sense in found if sense.kind == "value")
        phrase = tuple(token.stem for token in piece)
        if phrase not in self.entries:
            return self._without_auxiliaries(piece)
        return self.meanings(phrase, tuple(form(token.word) for token in piece))

    def _without_auxiliaries(self, piece: tuple[Token, ...]) -> tuple[Sense, ...]:
        """Values said as a clause: "nobody was at home" for "nobody at home"."""
        if len(piece) < 3 or piece[0].word in _AUXILIARIES or piece[-1].word in _AUXILIARIES:
            return ()
        plain = tuple(token for token in piece if token.word not in _AUXILIARIES)
        if len(plain) == len(piece) or len(plain) < 2:
            return ()
        found = self.meanings(tuple(t.stem for t in plain), tuple(form(t.word) for t in plain))
        return tuple(sense for sense in found if sense.kind == "value")

    def _named(self, name: str) -> tuple[Sense, ...]:
        layer, _, rest = name.partition(".")
        short, _, column = rest.partition(".")
        table = self.catalog.tables.get(f"{layer}.{short}")
        if table is None:
            return ()
        if not column:
            return (Sense("table", table.name),)
        if column in table.measures:
            return (Sense("measure", table.name, measure=column),)
        return (Sense("column", table.name, column),) if any(c.name == column for c in table.columns) else ()

    def respelled(self, word: str) -> str | None:
        """Correct a misspelled word to the one word of the catalog that is near it; None: none is, or several are."""
        if len(word) < 5 or not word.isalpha():
            return None
        doer = _LOST_E.sub("er", word)
        if doer != word and doer in self.vocabulary:
            return doer  # "cleanr": no other word ends so
        allowed = 1 if len(word) < 8 else 2
        near = process.extract(word, list(self.vocabulary), scorer=OSA.distance, score_cutoff=allowed, limit=3)
        near = [hit for hit in near if hit[0][:1] == word[:1] and not _ending_differs(word, hit[0])]
        if not near or len({self.vocabulary[hit[0]] for hit in near if hit[1] == near[0][1]}) > 1:
            return None
        return str(near[0][0])

    def nearest(self, word: str, limit: int = 3) -> list[str]:
        """Words of the catalog that look most like one."""
        hits = process.extract(word, list(self.vocabulary), scorer=fuzz.WRatio, score_cutoff=60, limit=limit * 3)
        names = dict.fromkeys(hit[0] for hit in hits if len(hit[0]) > 2)
        return list(names)[:limit]

    def places(self, sense: Sense) -> str:
        """A sense as a person writes it: table, or table and column."""
        return sense.table if sense.kind == "table" else f"{sense.table}.{sense.column or sense.measure}"


def _is_doer(forms: Forms) -> bool:
    return bool(forms) and forms[-1].endswith(("er", "or"))


_CONNECTING = frozenset({"per", "by", "of", "for", "in", "and", "or", "with", "to", "from", "at", "on", "each", "the"})


@dataclass(frozen=True)
class Rate:
    """Words "A per B" that a measure or a column is called: from `first`, B behind `per`, up to `end`."""

    first: int
    per: int
    end: int
    sense: Sense


def _is_whole(senses: tuple[Sense, ...]) -> bool:
    return any(sense.quality >= WHOLE_NAME for sense in senses)


def _ending_differs(one: str, other: str) -> bool:
    """Whether two words differ only behind a shared beginning, as "rider" and "rides" do: no slip of a finger."""
    if _once(one) == _once(other):
        return False  # a letter written once instead of twice
    shared = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        shared += 1
    return shared >= min(len(one), len(other)) - 1


def _has_own_words(lexicon: Lexicon, sense: Sense) -> bool:
    """Whether somebody wrote words for a value: a text that rows happen to have stands for nothing else."""
    column = lexicon.catalog.tables[sense.table].column(sense.column)
    return any(word != sense.value for word in column.values.get(sense.value, ()))


def _once(word: str) -> str:
    """A word with each run of one letter written once."""
    return "".join(letter for at, letter in enumerate(word) if not at or word[at - 1] != letter)


_known: dict[int, tuple[weakref.ref[Catalog], Lexicon]] = {}


def lexicon_of(catalog: Catalog) -> Lexicon:
    """The index of a catalog; built when it is asked for the first time."""
    found = _known.get(id(catalog))
    if found and found[0]() is catalog:
        return found[1]
    lexicon = _built(catalog)
    for key in [key for key, (known, _) in _known.items() if known() is None]:
        del _known[key]
    _known[id(catalog)] = (weakref.ref(catalog), lexicon)
    return lexicon


def _built(catalog: Catalog) -> Lexicon:
    lexicon = Lexicon(catalog)
    shared = _shared_synonyms(catalog)
    entries, vocabulary = lexicon.entries, lexicon.vocabulary
    for table in catalog.tables.values():
        for text, sense in (*senses_of(table), *_shared_senses(table, shared)):
            phrase, forms = words_of(text)
            if phrase:
                entries.setdefault(phrase, []).append((forms, sense))
        words = (word for text in texts_of(table) for word in text.replace("_", " ").lower().split())
        vocabulary.update({word: stem(word) for word in words if word not in vocabulary and word.isalpha()})
    _add_turned_names(lexicon)
    _add_soft_synonyms(lexicon)
    for key in catalog.keys:
        if key.table in catalog.tables and key.to in catalog.tables:
            lexicon.keys.setdefault(key.table, []).append(key)
            lexicon.children.setdefault(key.to, []).append(key)
    return lexicon


def _add_turned_names(lexicon: Lexicon) -> None:
    """As in "discarded units", of the number `units_discarded`; not where rows are called so: "cancelled orders"."""
    turned: dict[Phrase, list[tuple[Forms, Sense]]] = {}
    for table in lexicon.catalog.tables.values():
        for column in table.columns:
            thing, _, done = column.name.lower().partition("_")
            phrase, forms = words_of(f"{done} {thing}") if done and is_past_form(done) else ((), ())
            number = column.type in _NUMBERS and len(phrase) == len(("done", "thing"))
            if not number or phrase in lexicon.entries or singular(thing) == thing:
                continue
            if not any(sense.kind == "table" for sense in lexicon.meanings((stem(thing),))):
                sense = Sense("column", table.name, column.name, quality=WHOLE_NAME)
                turned.setdefault(phrase, []).append((forms, sense))
    lexicon.entries.update(turned)


_NUMBERS = frozenset({"tinyint", "smallint", "int", "bigint", "float", "double"})


def _shared_synonyms(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Name of a key column → what any table calls it: `store_id` is a branch wherever it stands."""
    found: dict[str, dict[str, None]] = {}
    for table in catalog.tables.values():
        for column in table.columns:
            if column.synonyms and column.name.rsplit("_", 1)[-1] in ROLE_WORDS:
                found.setdefault(column.name, {}).update(dict.fromkeys(column.synonyms))
    return {name: tuple(words) for name, words in found.items()}


def _shared_senses(table: CatalogTable, shared: dict[str, tuple[str, ...]]) -> Iterator[Entry]:
    for column in table.columns:
        if not column.synonyms:
            for word in shared.get(column.name, ()):
                yield word, Sense("column", table.name, column.name, quality=0.9)


def _describe(text: str, sense: Sense, found: dict[str, list[Sense]]) -> None:
    for word in dict.fromkeys(text.replace("_", " ").split()):
        plain = word.strip(".,;:()'\"").lower()
        if plain.isalpha() and plain not in _SILENT:
            found.setdefault(stem(plain), []).append(sense)


_PARTNERS: dict[str, tuple[str, ...]] = {}
for _one, _other in SOFT_SYNONYMS:
    for _a, _b in ((_one, _other), (_other, _one)):
        _PARTNERS[stem(_a)] = (*_PARTNERS.get(stem(_a), ()), _b)


_MONEY = frozenset(map(stem, ("revenue", "turnover", "income")))


def _is_amount(lexicon: Lexicon, sense: Sense) -> bool:
    """Whether a sense is a number that can be money: "revenue" may stand for "sales", and not for rows called so."""
    if sense.kind == "column":
        column = lexicon.catalog.tables[sense.table].column(sense.column)
        text = column.references is not None or column.name.rsplit("_", 1)[-1] in ROLE_WORDS
        return not text and column.type not in {"string", "boolean", "date", "timestamp", "timestamp_ntz"}
    return sense.kind == "measure"


def _add_soft_synonyms(lexicon: Lexicon) -> None:
    """Words that stand for others, where the catalog has no such word; also within names of several words."""
    varied: dict[Phrase, list[Sense]] = {}
    for word, partners in _PARTNERS.items():
        if (word,) not in lexicon.entries:
            for partner in partners:
                senses = lexicon.meanings((stem(partner),), (form(partner),))  # "nation" is not "national"
                named = [
                    one
                    for one in senses
                    if one.quality >= NEARLY_NAME and (one.kind != "value" or _has_own_words(lexicon, one))
                    if word not in _MONEY or _is_amount(lexicon, one)
                ]
                varied.setdefault((word,), []).extend(less(one, 0.7) for one in named)
    for phrase, entries in lexicon.entries.items():
        if not 1 < len(phrase) < 4 or not any(part in _PARTNERS for part in phrase):
            continue
        named = [s for _, s in entries if s.quality >= WHOLE_NAME and s.kind in {"measure", "column"}]
        for at, part in enumerate(phrase) if named else ():
            for partner in _PARTNERS.get(part, ()):
                key = (*phrase[:at], stem(partner), *phrase[at + 1 :])
                if key not in lexicon.entries:
                    varied.setdefault(key, []).extend(less(one, 0.75) for one in named)
    for key, found in varied.items():
        if found:
            lexicon.entries[key] = [(_ANY, sense) for sense in found]


__all__ = ["Lexicon", "Mention", "Sense", "entity_of", "lexicon_of"]
