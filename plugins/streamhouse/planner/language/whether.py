"""As in "articles by whether they need assembly": one group for yes and one for no, whatever verb says so."""

from dataclasses import replace

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.scope import spoken
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.versus_rest import flag_of
from streamhouse.planner.request import ColumnRef, Question

_BEFORE = frozenset({"by", "per"})
_WHO = frozenset({"they", "it", "he", "she", "the", "a", "an", "our", "their"})
_LIGHT = frozenset(
    "is are was were be been has have had do does did get gets got need needs needed want wants use uses".split()
)
_FARTHEST = 5


def with_groups_of_flags(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with "per" and the column of yes or no that "by whether they need assembly" says."""
    words = [token.word for token in tokens]
    for at in range(1, len(tokens) - 1):
        if words[at] != "whether" or words[at - 1] not in _BEFORE:
            continue
        begin = at + 1 + 2 * (words[at + 1 : at + 3] == ["or", "not"])
        found = _flag(tokens, begin, lexicon)
        if found is None:
            continue
        end, name = found
        end += 2 * (words[end : end + 2] == ["or", "not"])
        per = replace(tokens[at], text="per", word="per", stem="per")
        text = name.rsplit(".", 1)[1]
        named = replace(tokens[begin], text=text, word=name, stem=stem(name), kind="name")
        return (*tokens[: at - 1], per, named, *tokens[end:])
    return tokens


def _flag(tokens: tuple[Token, ...], begin: int, lexicon: Lexicon) -> tuple[int, str] | None:
    """Where the first phrase behind "whether" ends that is yes or no, and its column; None: other words come before."""
    at = begin
    while at < min(begin + _FARTHEST, len(tokens)):
        mention = lexicon.mention(tokens, at)
        name = flag_of(mention, lexicon) if mention is not None else ""
        if mention is not None and name:
            return mention.end, name
        thing = mention is not None and bool(mention.of_kind("table"))
        if not thing and tokens[at].word not in _WHO | _LIGHT:
            return None
        at = mention.end if thing and mention is not None else at + 1
    return None


def groups_of_whether(wish: AnsweredWish) -> Question | None:
    """As in "by whether they came late", where no group of the answer says yes or no."""
    words = wish.words
    at = next((n for n in range(1, len(words)) if words[n] == "whether" and words[n - 1] in _BEFORE), 0)
    if not at:
        return None
    reaches = wish.scope.reaches
    for one in wish.block.dimensions:
        if not isinstance(one.of, ColumnRef) or one.of.role not in reaches:
            return None
        if reaches[one.of.role].table.column(one.of.column).type == "boolean":
            return None
    said = " ".join(words[at - 1 : at + 4])
    flags = tuple(spoken(one.name) for one in wish.base.columns if one.type == "boolean")
    return Question(text=f"'{said}': which column says so?", phrase="whether", choices=flags)


__all__ = ["groups_of_whether", "with_groups_of_flags"]
