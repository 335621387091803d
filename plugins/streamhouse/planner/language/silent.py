"""Words that a reading may pass over in silence; every other word needs a rule that reads it, or is named."""

from streamhouse.planner.language.dates import is_may, year_at
from streamhouse.planner.language.draft import Noun
from streamhouse.planner.language.periods import read_period
from streamhouse.planner.language.reader import AUXILIARIES, DETERMINERS, Reader
from streamhouse.planner.language.tokens import singular, stem
from streamhouse.planner.language.words import FILLERS, LIGHT_STEMS

_OF_NOUNS = ("ance", "ances", "ment", "ments", "tion", "tions")  # "performance" is no form of "perform" here
_MEANT = frozenset(stem(word) for word in ("end", "leave", "fall", "remain", "raise", "pass", "hold"))
_NEVER = frozenset({"each", "every", "per", "between", "than", "exactly", "exact", "different", "both", "ordered",
                    "against", "within"})  # fmt: skip
_ORDERS = frozenset({"return", "order", "use", "need", "want", "find", "show", "display", "see", "get"})
_ENDS_TOTAL = frozenset({"", ".", "?", "!", ",", ";", "up", "so", "until", "by", "then", "then,", "to", "since"})
_CLAUSES = frozenset({"where", "when", "while", "whose", "than"})
_JOINING = frozenset({",", ";", "and", "or", "by", "per", "for", "where", "that", "which", "who"})
_WHOLE = frozenset({"the", "our", "of", "these", "those", "their", "its", "in", "my"})


def passes_over(reader: Reader) -> bool:
    """Read on over a word that says nothing where it stands; False: it says something."""
    token = reader.tokens[reader.at]
    word = token.word
    light = (token.stem in LIGHT_STEMS or singular(word) in LIGHT_STEMS) and not word.endswith(_OF_NOUNS)
    if not (word in FILLERS or word in AUXILIARIES or light) or _says(reader, word, light=light) or reader.is_named():
        return False
    if word in _CLAUSES and reader.at:
        reader.draft.clauses.append((reader.at, f"{word} {reader.word(1)}".strip(), conditions_of(reader)))
    reader.at += 1
    return True


def _lasts(reader: Reader) -> bool:
    """Whether "last" is a verb: "rides that last over an hour", "how long did they last"."""
    asked = {"to", "must", "should", "can", "may", "they", "not"}
    before = reader.word(-1) in asked or reader.word(-2) in {"did", "does", "do"}
    counted = reader.number_here(1) and year_at(reader.tokens, reader.at + 1) is None
    return before or reader.word(1) in _BEFORE_LENGTHS or counted


_BEFORE_LENGTHS = frozenset("at between longer more less over under about only exactly up shorter".split())


def _was_held(reader: Reader) -> bool:
    """Whether a verb says no more than that rows took place, as behind "hearings that were" and before "on Fridays"."""
    return reader.word() == "held" and not reader.negated and reader.word(-1) in {"is", "are", "was", "were", "been"}


def conditions_of(reader: Reader) -> int:
    """How many conditions and figures have been read so far."""
    draft = reader.draft
    own = sum(len(one.where) for one in draft.figures)
    local = len(reader.local or ())
    return (
        len(draft.filters) + len(draft.figures) + own + local + len(draft.groups) + bool(draft.best) + bool(draft.pick)
    )


def _says(reader: Reader, word: str, *, light: bool) -> bool:
    """Whether a word that is often silent says something here."""
    following = reader.word(1)
    if word == "may":
        return is_may(reader.tokens, reader.at)
    if word == "into" and following in {"", ".", "?", "!"}:
        return True  # "languages we translate into" are those of one direction
    if word in _ORDERS and reader.word(-1) in {"a", "an", "any", "no", "without"}:
        return True  # "with a return" asks for something
    if word == "up" and following == "to":
        return True  # "the total up to then" is a running one
    if word in {"total", "overall"} and reader.word(-1) in {"the", "their", "its"} and following in _ENDS_TOTAL:
        return True  # "visits per week and the total" asks for a second figure
    if word in _NEVER:
        return not (word == "both" and reader.mention(1) is not None)
    if word in {"last", "lasts"}:
        return not _lasts(reader)
    if word in {"many", "much"}:
        return reader.word(-1) not in {"how", "as", "so", "that", "this"}
    if word == "all":
        return reader.word(-1) in AUXILIARIES - {"that", "which", "who"} and following not in _WHOLE
    if word == "only" and _ends_group(reader):
        return True
    if word in {"only", "just"}:
        return reader.word(-1) in {"who", "that", "which", "have", "has", "had", "with", "whose", "ever"}
    if word == "across":
        return following not in {"all", "the", "our", "both", "every"}
    if word in {"value", "values", "rate", "total"}:
        return _ends_name(reader)
    if light and word not in FILLERS and word not in AUXILIARIES:
        return not _was_held(reader) and (stem(word) in _MEANT or _describes(reader, word))
    return False


def _ends_group(reader: Reader) -> bool:
    """Whether a word stands behind the last of several groups: "per team, seniors only" restricts, and is no group."""
    near = reader.draft.figures[-1].near if reader.draft.figures else ()
    groups = max(reader.draft.groups, near, key=len)
    last = groups[-1] if len(groups) > 1 else None
    if not isinstance(last, Noun):
        return False
    end = last.end
    between = {token.word for token in reader.tokens[end : reader.at]}
    return not between & _JOINING and reader.word(last.head.start - 1 - reader.at) == ","


def _ends_name(reader: Reader) -> bool:
    """Whether a word is the head of a name whose first part alone was read: "stock value"."""
    before = reader.tokens[reader.at - 1] if reader.at else None
    if before is None or before.kind != "word" or before.word in FILLERS | DETERMINERS | AUXILIARIES:
        return False
    return reader.lexicon.mention(reader.tokens, reader.at - 1, 1) is not None


def _describes(reader: Reader, word: str) -> bool:
    """Whether a verb stands like an adjective before what it is said of: "falling revenue"."""
    following = reader.mention(1)
    if not word.endswith("ing") or following is None or read_period(reader.tokens, reader.at + 1):
        return False
    return following.senses[0].kind in {"measure", "table", "column"} and reader.word(-1) not in AUXILIARIES
