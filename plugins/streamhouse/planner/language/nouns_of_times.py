"""As in "from order to delivery": nouns for moments that the catalog names by participles."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM, NAME_OR_DEED
from streamhouse.planner.language.lexicon import Lexicon, Sense
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, place_behind, stem
from streamhouse.planner.language.words import ARTICLES

DONE: dict[str, tuple[str, ...]] = {
    "acceptance": ("accepted",), "answer": ("answered",), "approval": ("approved",), "arrival": ("arrived",),
    "assignment": ("assigned",), "booking": ("booked",), "closing": ("closed",), "closure": ("closed",),
    "collection": ("collected",), "completion": ("completed",), "creation": ("created",), "decision": ("decided",),
    "delivery": ("delivered",), "departure": ("departed", "left"), "discharge": ("discharged",),
    "dispatch": ("dispatched",), "end": ("ended",), "enrolment": ("enrolled",), "exit": ("left",),
    "invoice": ("invoiced", "issued"), "order": ("ordered",), "ordering": ("ordered",), "paying": ("paid",),
    "payment": ("paid",), "pickup": ("picked up",), "pick-up": ("picked up",), "purchase": ("purchased", "bought"),
    "receipt": ("received",), "registration": ("registered",), "repair": ("repaired",), "reply": ("replied",),
    "report": ("reported",), "request": ("requested",), "resolution": ("resolved",), "return": ("returned",),
    "sale": ("sold",), "settlement": ("settled",), "shipment": ("shipped",), "shipping": ("shipped",),
    "solution": ("solved",), "start": ("started",), "submission": ("submitted",),
}  # fmt: skip
"""Noun for a deed → participles by which a catalog may name its time."""

_LENGTHS = frozenset({"time", "days", "hours", "minutes", "seconds", "duration", "long"})
_OPENERS = frozenset({"from", "between"})
_JOINING = frozenset({"to", "until", "till", "and", "through"})


def with_done_moments(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with the participles of "time from order to delivery", where both are moments of the catalog."""
    for at in range(1, len(tokens)):
        if tokens[at].word not in _OPENERS or not _LENGTHS & {token.word for token in tokens[:at]}:
            continue
        first = place_behind(ARTICLES, tokens, at + 1)
        joined = next((n for n in range(first + 1, min(first + 4, len(tokens))) if tokens[n].word in _JOINING), None)
        if joined is None or (tokens[at].word == "between") != (tokens[joined].word == "and"):
            continue
        last = place_behind(ARTICLES, tokens, joined + 1)
        if last >= len(tokens):
            continue
        before, after = _moment_at(tokens, first, joined, lexicon), _moment_at(tokens, last, last + 1, lexicon)
        if before is None or after is None:
            continue
        return (*tokens[: at + 1], *before, tokens[joined], *after, *tokens[last + 1 :])
    return tokens


def _moment_at(tokens: tuple[Token, ...], at: int, end: int, lexicon: Lexicon) -> tuple[Token, ...] | None:
    """The words for the moment that stands between two tokens; None: it is no moment."""
    if at + 1 != end or tokens[at].kind != "word":
        found = lexicon.mention(tokens, at, end - at)
        return (
            tokens[at:end]
            if found is not None and found.end == end and _times(found.senses, lexicon, ANY_FORM)
            else None
        )
    found = lexicon.mention(tokens, at, 1)
    if found is not None and _times(found.senses, lexicon, NAME_OR_DEED):
        return tokens[at:end]
    for done in DONE.get(tokens[at].word, ()):
        phrase = tuple(map(stem, done.split()))
        if _times(lexicon.meanings(phrase), lexicon, ANY_FORM):
            return tuple(replace(tokens[at], text=one, word=one, stem=stem(one)) for one in done.split())
    return tokens[at:end] if found is not None and _times(found.senses, lexicon, ANY_FORM) else None


def _times(senses: tuple[Sense, ...], lexicon: Lexicon, least: float) -> bool:
    tables = lexicon.catalog.tables
    return any(
        sense.kind == "column" and sense.quality >= least and tables[sense.table].column(sense.column).type in TIMES
        for sense in senses
    )
