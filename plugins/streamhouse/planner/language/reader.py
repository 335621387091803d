"""A place in the tokens of a wish, and what can be read from there: phrases, names, nouns."""

from collections.abc import Iterable
from dataclasses import replace

from streamhouse.planner.language.draft import Clause, Draft, Noun
from streamhouse.planner.language.levels import ANY_FORM, LAST_WORD, NAME_OR_DEED, NEARLY_NAME, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention, Sense
from streamhouse.planner.language.numbers import read_number
from streamhouse.planner.language.people import holds_people
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, singular, stem
from streamhouse.planner.language.words import (
    ADVERB_GRAINS,
    AGGREGATES,
    BOOLEAN_BEGINNINGS,
    COMMON,
    COMPARATIVES,
    COMPOUND_HEADS,
    DIRECTIONS,
    DOING,
    FILLERS,
    GRAINS,
    LIGHT_VERBS,
    RATES,
    SHARES,
    STATES,
    SUPERLATIVES,
    VALUE_LIKE,
    VERB_NOUNS,
    is_past_form,
)

DETERMINERS = frozenset(
    """the a an all any their its his her my our your this these those some single given individual such
    total-of specific particular""".split()
)
AUXILIARIES = frozenset(
    """is are was were be been being has have had having do does did that which who whose where will would can could
    it they there stands lies currently ever already get gets got""".split()
)
_WHOLE = frozenset({"lifetime", "entire", "whole", "complete", "respective"})
_LIGHT_STEMS = frozenset({"take", "make", "give", "get", "have", "do", "be", "come", "go"})
_LIGHT_DONE = frozenset({"last", "occur", "happen", "exist", "concern", "belong", "contain"})
_GRAMMAR = frozenset({*AGGREGATES, *SUPERLATIVES, *COMPARATIVES, *GRAINS, *SHARES, *RATES, "first", "last", "latest",
                      "number", "count", "change", "growth", "running", "rank", "rows", "over", "under", "period",
                      "previous", "per", "time", "no", "not", "never", "without", "open", "up", "new"})  # fmt: skip
_SILENT = frozenset(
    """a an the please me us i we you my our your to with and or that which who whom there it its their them they this
    these those be do will shall just only what how much many is are was were been being has had does did at on from by
    for of in as if than then while so also all any each every some into out up when where whose not no per can could
    would may might should have i'm both but nor because he she his her him""".split()
)
_BEFORE_TIMES = frozenset({"on", "in", "at", "by", "from", "since", "until", "for"})
_DOERS = frozenset({"who", "that", "which"})
_LINKING = frozenset({"in", "at", "from", "by", "for", "on", "to", "within", "during"})
_LISTING = frozenset(
    """, ; : . ? ! and & - plus with including show list give me us get display find tell return which what name also
    together both or need want see fetch print""".split()
)
_BEING = frozenset({"is", "are", "was", "were"})
_ASKING = frozenset({"what", "which"})
_CUES = frozenset("start starting end ending origin destination pickup dropoff departure arrival from to".split())
_SHORTEST_DENIED = 5  # "unpaid" has a verb behind "un"
_SOFT = frozenset(FILLERS) - _SILENT  # words that are only read as names where the catalog spells them so


_BEHIND_NAMES = frozenset({"", ",", ".", "?", "per", "by", "and", "for", "in", "over", "above"})
_TIME_NAMES = frozenset({"date", "dates", "time", "times", "day", "days", "timestamp", "year", "month"})


class Reader:
    """Reads a wish from left to right; rules move `at` forward and write into the draft."""

    def __init__(self, tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> None:
        self.tokens = tokens
        self.lexicon = lexicon
        self.draft = draft
        self.at = 0
        self.head: Noun | None = None  # the last noun, which a comparison without one is about
        self.negated = False
        self.never = False
        self.local: list[Clause] | None = None  # where clauses go that belong to one number
        self.respelled: dict[int, str] = {}
        self.passed: set[int] = set()  # tokens that a rule before has read
        self._mentions: dict[tuple[int, int], Mention | None] = {}

    @property
    def done(self) -> bool:
        """Whether nothing is left."""
        return self.at >= len(self.tokens)

    def word(self, ahead: int = 0) -> str:
        """The word so many tokens ahead, empty behind the end and for quoted values."""
        at = self.at + ahead
        if not 0 <= at < len(self.tokens) or self.tokens[at].kind == "quoted":
            return ""
        return self.tokens[at].word

    def length_of(self, phrase: str, ahead: int = 0) -> int:
        """How many tokens a phrase has that stands so many tokens ahead; 0: it does not."""
        if not phrase.startswith(self.word(ahead) or " "):
            return 0
        parts = phrase.split()
        return len(parts) if all(self.word(ahead + n) == part for n, part in enumerate(parts)) else 0

    def take(self, *phrases: str) -> str:
        """Read the first of some phrases that stands here; empty: none does."""
        first = self.word() or " "  # most phrases begin with another word
        for phrase in phrases:
            length = self.length_of(phrase) if phrase.startswith(first) else 0
            if length:
                self.at += length
                return phrase
        return ""

    def skip(self, words: Iterable[str]) -> None:
        """Read on while words are some of these."""
        known = words if isinstance(words, frozenset | set | dict) else set(words)
        while not self.done and self.word() in known and not self.is_named():
            self.at += 1

    def is_named(self) -> bool:
        """Whether a word that mostly says nothing is a value, or begins a name: "single rooms", "given back"."""
        whole = self.mention() if self.word() in {"given", "used"} else None
        if whole is not None and len(whole.words) > 1 and whole.best >= WHOLE_NAME:
            return True
        found = self.lexicon.mention(self.tokens, self.at, 1) if self.word() in VALUE_LIKE else None
        return found is not None and any(sense.quality >= WHOLE_NAME for sense in found.of_kind("value"))

    def is_value_of_next(self, at: int) -> bool:
        """Whether a word is a value of the column that stands behind it: "max" of "the max plan"."""
        found, column = self.lexicon.mention(self.tokens, at, 1), self.lexicon.mention(self.tokens, at + 1, 1)
        if found is None or column is None or not any(s.quality >= WHOLE_NAME for s in found.of_kind("value")):
            return False
        return _shares_column(column, found)

    def text(self, start: int, end: int | None = None) -> str:
        """The words between two tokens as one phrase."""
        return " ".join(token.text for token in self.tokens[start : self.at if end is None else end])

    def keep(self, clause: Clause) -> None:
        """Add a clause to the number that is being read, else to the wish."""
        (self.draft.filters if self.local is None else self.local).append(clause)

    def mention(self, ahead: int = 0) -> Mention | None:
        """The phrase of the catalog that stands so many tokens ahead, if it is not a word of the grammar."""
        if self.at + ahead in self.passed:
            return None
        key = (self.at + ahead, 0)
        if key not in self._mentions:
            self._mentions[key] = self._found(self.at + ahead)
        return self._mentions[key]

    def _found(self, at: int) -> Mention | None:
        if at >= len(self.tokens):
            return None
        token = self.tokens[at]
        found = self.lexicon.mention(self.tokens, at)
        if (
            found
            and len(found.words) > 1
            and found.words[-1] in _BEFORE_TIMES
            and (read_period(self.tokens, found.end - 1) or self._bound_at(found.end - 1))
        ):
            found = self.lexicon.mention(self.tokens, at, found.end - at - 1)  # "promised | on or before 10 May"
        if found and (self._is_clause(found, token) or self._is_relative(found, at) or self._denies_rows(found)):
            return None
        if found and found.end - found.start == 1 and token.kind != "quoted":
            coded = token.text.isupper() and found.of_kind("value") and any(t.text.islower() for t in self.tokens)
            silent = token.word in _SILENT and not (coded and token.word == "but")
            if silent or (token.word in _GRAMMAR and not self._as_name(found, at)):
                return None
            if token.word in _SOFT and found.best < WHOLE_NAME:
                return None
            if len(token.word) < 2 and at == 0:
                return None
            if found.senses[0].kind == "value" and not found.of_kind("table", "column"):
                following = self.tokens[found.end].word if found.end < len(self.tokens) else ""
                if following in COMPOUND_HEADS:
                    return None  # "phone numbers" are no rows with "phone"
            light = singular(token.word) in LIGHT_VERBS or token.stem in _LIGHT_STEMS
            if light or (token.word.endswith("ed") and token.stem in _LIGHT_DONE):
                exact = [sense for sense in found.senses if sense.quality >= NEARLY_NAME]
                if not exact:
                    return None
        return self._done_first(found) if found else self._respelled(at)

    def _denies_rows(self, found: Mention) -> bool:
        """Whether the name of a measure denies something of the rows behind it: "unpaid" of "unpaid invoices"."""
        word = found.words[-1] if len(found.words) == 1 else ""
        if not word.startswith("un") or len(word) <= _SHORTEST_DENIED or found.of_kind("value", "column"):
            return False
        rows = self.lexicon.mention(self.tokens, found.end)
        tables = rows.tables(WHOLE_NAME) if rows else set()
        done = self.lexicon.meanings((stem(word[2:]),))
        return any(sense.kind == "column" and sense.table in tables for sense in done)

    def _bound_at(self, at: int) -> bool:
        """Whether "at" begins a bound here: "ordered | at least twice", where a column is called "ordered at"."""
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        return self.tokens[at].word == "at" and following in {"least", "most"}

    def _done_first(self, found: Mention) -> Mention:
        """Of a participle, the time it was done rather than a value of another form: "installed" and "installation"."""
        if len(found.words) != 1 or not found.words[0].endswith("ed"):
            return found
        tables = self.lexicon.catalog.tables
        if not any(tables[s.table].column(s.column).type in TIMES for s in found.of_kind("column")):
            return found
        senses = tuple(sense for sense in found.senses if sense.kind != "value" or sense.quality >= NEARLY_NAME)
        return replace(found, senses=senses)

    def _is_clause(self, found: Mention, token: Token) -> bool:
        """Whether a phrase is a verb, although a column is called so: "were refunded" and `is_refund`."""
        begins = token.word in BOOLEAN_BEGINNINGS | {"are", "were"}
        return begins and len(found.words) > 1 and all(sense.kind == "column" for sense in found.senses)

    def _is_relative(self, found: Mention, at: int) -> bool:
        """Whether "who ordered" says more of "customers with a pass", although a key is described so."""
        begins = found.words[:1] in (("who",), ("which",), ("that",), ("whom",))
        if not begins or len(found.words) < 2 or not at:
            return False
        before = self.lexicon.mention(self.tokens, at - 1, 1)
        return before is not None and self.is_yes_or_no(before)

    def _as_name(self, found: Mention, at: int) -> bool:
        """Whether a word of the grammar stands here for what the catalog calls so: "per quarter", "open tickets"."""
        word = self.tokens[at].word
        if self.is_value_of_next(at):
            return True
        if word in ADVERB_GRAINS:
            after = self.lexicon.mention(self.tokens, found.end)
            return after is not None and (_shares_column(after, found) or is_value_of_rows(found, after))
        if word in {"time", "date"} and found.best >= 0.65:
            return bool(found.of_kind("column")) and not self._timed(at)
        if word in {"open", "new", "period", "order", "change", "count", "rank", "up"} and found.best >= NEARLY_NAME:
            return True
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        if word in GRAINS and word not in ADVERB_GRAINS:
            return bool(found.of_kind("column", "value", "measure")) and found.best >= WHOLE_NAME
        return found.best >= NEARLY_NAME and following in _BEHIND_NAMES

    def _timed(self, at: int) -> bool:
        """Whether "time" here belongs to a phrase of its own, such as "time between" or "time of day"."""
        following = self.tokens[at + 1].word if at + 1 < len(self.tokens) else ""
        if following == "of":
            return not any(token.word == "the" for token in self.tokens[at + 2 : at + 3]) or self._period_at(at + 3)
        return following in {"between", "from", "to", "until", "elapsed", "it"}

    def _period_at(self, at: int) -> bool:
        return at >= len(self.tokens) or self.tokens[at].word in GRAINS

    def _respelled(self, at: int) -> Mention | None:
        token = self.tokens[at]
        if token.kind != "word" or not token.word.isalpha() or token.word in PLAIN_ENGLISH:
            return None
        if token.stem in self.lexicon.described or token.word in self.lexicon.vocabulary:
            return None
        spelled = self.lexicon.respelled(token.word)
        if spelled is None:
            return None
        stem = self.lexicon.vocabulary[spelled]
        tokens = (*self.tokens[:at], replace(token, word=spelled, stem=stem), *self.tokens[at + 1 :])
        found = self.lexicon.mention(tokens, at)
        if found is None:
            return None
        self.respelled[at] = spelled
        self.tokens = tokens
        return replace(found, text=" ".join(t.text for t in self.tokens[at : found.end]), spelled=spelled)

    def number_here(self, ahead: int = 0) -> bool:
        """Whether a number stands so many tokens ahead."""
        return read_number(self.tokens, self.at + ahead) is not None

    def period_here(self) -> bool:
        """Whether a time stands here."""
        return read_period(self.tokens, self.at) is not None

    def noun(self) -> Noun | None:
        """Read the noun that stands here: its mentions, and those of "of …" behind it."""
        start = self.at
        cues = [word for word in (self.word(-1), self.word(-2)) if word in DIRECTIONS][:1]
        if self.word(-1) not in {*DIRECTIONS, "at", "in", "on", "the"}:
            cues = []
        before = self._word_before()
        linked, listed = before in _LINKING, (before in _LISTING or not before) and not self._wanted_by_others()
        self.skip(DETERMINERS)
        if self.word() in _WHOLE and self.mention() is None and self.mention(1) is not None:
            self.at += 1
        mentions = self._run(cues)
        if not mentions:
            self.at = start
            return None
        if cues:
            mentions = [replace(one, cues=tuple(cues)) if one.of_kind("value") else one for one in mentions]
        head = _head(mentions)
        around = [*(one for one in mentions if one is not head), *self._behind_of(cues)]
        return Noun(head, tuple(around), tuple(cues), linked=linked, listed=listed)

    def _behind_of(self, cues: list[str]) -> list[Mention]:
        """The mentions of "of …" behind a noun, however often it comes."""
        found: list[Mention] = []
        while self.word() == "of" and not self._counted_next():
            back = self.at
            self.at += 1
            self.skip(DETERMINERS)
            more = self._run(cues)
            if not more:
                self.at = back
                break
            found += more
        return found

    def _word_before(self) -> str:
        """The word before a noun and its articles; empty at the begin of a wish."""
        at = self.at - 1
        while at >= 0 and self.tokens[at].word in DETERMINERS:
            at -= 1
        if at == 1 and self.asks_what(at + 1):
            at = 0
        return self.tokens[at].word if at >= 0 else ""

    def asks_what(self, at: int | None = None) -> bool:
        """Whether a question with "what are" begins right before a place: "what are | titles of books"."""
        here = self.at if at is None else at
        while here > 2 and self.tokens[here - 1].word in DETERMINERS:
            here -= 1
        return here == 2 and self.tokens[0].word in _ASKING and self.tokens[1].word in _BEING

    def _wanted_by_others(self) -> bool:
        """Whether "want" is said of things, and is no order to show: "donors who want letters"."""
        at = self.at - 1
        while at >= 0 and self.tokens[at].word in DETERMINERS:
            at -= 1
        words = [token.word for token in self.tokens[: max(at, 0)]]
        return (
            at > 0
            and self.tokens[at].word in {"want", "need"}
            and (words[-1] in _DOERS or (words[-1] in {"and", "but"} and bool(_DOERS & set(words))))
        )

    def _counted_next(self) -> bool:
        word = self.word(1)
        return (
            word in AGGREGATES
            or word in {"each", "every"}
            or self.number_here(1)
            or bool(read_period(self.tokens, self.at))
        )

    def _run(self, cues: list[str]) -> list[Mention]:
        mentions: list[Mention] = []
        while True:
            if self.word() in _CUES and not self.mention() and self.mention(1):
                if mentions and self.word() in {"from", "to"}:
                    return mentions
                cues.append(self.word())
                self.at += 1
                continue
            found = self.mention() or self._state()
            if found is None or (mentions and self._breaks(mentions[-1], found)):
                return mentions
            entity = self._entity_in(found)
            mentions += [found, entity] if entity else [found]
            self.at = found.end

    def _state(self) -> Mention | None:
        """As in "Open" before a thing, where the catalog has no such value."""
        word = self.word()
        if word not in STATES or self.mention() is not None or self.mention(1) is None:
            return None
        return Mention(self.at, self.at + 1, word, (Sense("state", "", value=word),), (word,))

    def _entity_in(self, found: Mention) -> Mention | None:
        """The thing at the end of a value of several words: "bikes" in "cargo bikes", where that is a value."""
        if found.end - found.start < 2 or not found.of_kind("value") or found.of_kind("table"):
            return None
        last = self.lexicon.mention(self.tokens, found.end - 1, 1)
        tables = {sense.table for sense in found.of_kind("value")}
        if last and any(s.kind == "table" and s.table in tables and s.quality >= LAST_WORD for s in last.senses):
            return last
        return None

    def _breaks(self, before: Mention, found: Mention) -> bool:
        """Whether a mention begins something new rather than going on with a noun."""
        if self.period_here() or is_verb(found):
            return True
        thing = before.of_kind("table") or self._points(before)
        if thing and self._is_verb_of(found):
            return True
        if before.of_kind("table") and (is_done(found) or self.is_yes_or_no(found) or self._did(before, found)):
            return True
        if self._is_time_of_several(before, found):
            return True
        against = self.word(found.end - self.at) in {"vs", "versus"}
        if against and before.of_kind("table") and found.of_kind("value"):
            return True  # "lessons | cancelled by the pupil vs the teacher"
        if self.word() in GRAINS and (self.word(1) == "by" or self.word() in ADVERB_GRAINS):
            return True
        best = before.senses[0]
        valued = any(sense.quality >= ANY_FORM for sense in before.of_kind("value"))
        plain = best.kind in {"column", "measure"} and not (valued or before.of_kind("table") or self._points(before))
        return plain and not (found.of_kind("value") and _shares_column(before, found))

    def _is_time_of_several(self, before: Mention, found: Mention) -> bool:
        """Whether a time is said of several things and is no name: "invoices due", but not "invoice date"."""
        word = before.words[-1] if before.words else ""
        if singular(word) == word or not before.of_kind("table") or found.of_kind("table", "value", "measure"):
            return False
        tables = self.lexicon.catalog.tables
        columns = [tables[sense.table].column(sense.column) for sense in found.of_kind("column")]
        return bool(columns) and all(one.type in TIMES for one in columns) and found.words[-1] not in _TIME_NAMES

    def _did(self, before: Mention, found: Mention) -> bool:
        """Whether a participle says what people did, though rows are called so, too: "customers ordered" and orders."""
        word = found.words[0] if len(found.words) == 1 else ""
        named = found.best_of("table")
        if not is_past_form(word) or named >= NEARLY_NAME:
            return False
        tables = self.lexicon.catalog.tables
        return any(holds_people(tables[sense.table], self.lexicon) for sense in before.of_kind("table")[:1])

    def _is_verb_of(self, found: Mention) -> bool:
        """Whether a word is what a thing does or did: "sell" in "did each store sell", "parked" behind "customers"."""
        if len(found.words) != 1:
            return False
        word = found.words[0]
        if word.endswith("ed") and found.best < NAME_OR_DEED and not found.of_kind("value"):
            return True
        question_verbs = {token.word for token in self.tokens[: found.start]} & DOING
        known = stem(word) in VERB_NOUNS or (found.best < NEARLY_NAME and not found.of_kind("value"))
        return bool(question_verbs) and known and singular(word) == word and found.best < NAME_OR_DEED

    def is_yes_or_no(self, mention: Mention) -> bool:
        """Whether a mention can only be said of rows: "overdue" behind "loans", where that is a column of its own."""
        columns = mention.of_kind("column")
        return bool(columns) and not mention.of_kind("table", "measure") and all(map(self.lexicon.is_flag, columns))

    def _points(self, mention: Mention) -> bool:
        """Whether a mention names a key, and so a thing."""
        for sense in mention.of_kind("column"):
            table = self.lexicon.catalog.tables[sense.table]
            if table.column(sense.column).references or sense.column in table.primary_key:
                return True
        return False


def is_done(mention: Mention) -> bool:
    """Whether a mention says what was done, and is the name of no thing: "created", "paid"."""
    word = mention.words[0] if mention.words else ""
    if len(mention.words) > 1 and mention.words[-1] not in {"by", "in", "on", "at", "from", "to", "with", "back"}:
        return False
    return is_past_form(word) and not mention.of_kind("table")


def is_verb(mention: Mention) -> bool:
    """Whether a mention is a verb in the past, and no name that the catalog spells so."""
    word = mention.words[-1] if mention.words else ""
    return len(mention.words) == 1 and is_past_form(word) and mention.best < WHOLE_NAME


def is_value_of_rows(value: Mention, rows: Mention) -> bool:
    """Whether a mention is exactly a value of the rows that the next one names: "annual permits"."""
    tables = rows.tables(WHOLE_NAME)
    return any(sense.quality >= WHOLE_NAME and sense.table in tables for sense in value.of_kind("value"))


def _shares_column(one: Mention, other: Mention) -> bool:
    columns = {(s.table, s.column) for s in one.of_kind("column")}
    return any((s.table, s.column) in columns for s in other.of_kind("value"))


def _head(mentions: list[Mention]) -> Mention:
    for mention in reversed(mentions):
        if mention.of_kind("table", "column", "measure"):
            return mention
    return mentions[-1]


_KNOWN = frozenset({*AGGREGATES, *SUPERLATIVES, *COMPARATIVES, *GRAINS, *DIRECTIONS, *SHARES, *RATES, *AUXILIARIES,
                    *DETERMINERS, "median", "number", "between", "above", "below", "under", "except", "without",
                    "longer", "shorter", "other", "excluding", "including", "whose", "compared", "difference",
                    "growth", "change", "minutes", "dollars", "percent", "hours", "seconds", "alert", "moving",
                    "running", "cumulative", "latest", "earliest", "first", "never", "least", "unique", "distinct",
                    "different", "session", "sessions", "weekend", "weekends", "fresh", "within", "named", "called",
                    "several", "where", "there", "these", "those", "their", "which", "would", "could", "should",
                    "about", "after", "before", "since", "until", "against", "each", "every", "happened", "placed",
                    "taken", "takes", "recorded", "percentage", "previous", "preceding", "times"})  # fmt: skip

MEANINGFUL = frozenset({*_GRAMMAR, "late", "early", "before", "after", "back", "again", "still", "only", "once",
    "twice",
                        "both", "neither", "except", "than", "equal", "same", "other", "another", "one", "two", "half",
                        "double", "first", "last", "next", "until", "since", "during", "between"})  # fmt: skip
"""Words that change what is asked, so that no description excuses one that was not read."""

PLAIN_ENGLISH = frozenset({*_KNOWN, *MEANINGFUL, *FILLERS, *COMMON})
"""Words that are no slip of another word, whatever the catalog has."""
