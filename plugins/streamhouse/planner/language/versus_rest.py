"""As in "key accounts versus other customers", "with a balcony vs without": a group for what is so, one for others."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import ARTICLES

_VERSUS = (("versus",), ("vs",), ("vs", "."), ("v",), ("compared", "with"), ("compared", "to"), ("against",))
_JOINED = (*_VERSUS, ("and",), ("or",), ("and", "for"), ("and", "of"))
_REST = (("others",), ("the", "others"), ("the", "rest"), ("the", "other", "ones"), ("all", "others"),
         ("those", "who", "are", "not"), ("those", "that", "are", "not"), ("ones", "that", "are", "not"),
         ("non",), ("other",), ("all", "other"), ("the", "other"))  # fmt: skip
_OPEN_ENDED = frozenset({"other", "non", "not"})  # a thing may stand behind
_HAVING = frozenset({"with", "having", "have", "has", "without"})
_LACKING = frozenset({"without", "lacking"})
_BOTH = (("with", "and", "without"), ("with", "or", "without"), ("without", "and", "with"))
_BEFORE = frozenset({"for", "of", "by", "between", "from"})


def with_both_sides(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with a group by what is yes or no, where a wish wants those of which it is so and the others."""
    for at in range(1, len(tokens)):
        flag = lexicon.mention(tokens, at)
        name = flag_of(flag, lexicon) if flag is not None else ""
        if flag is None or not name:
            continue
        joined = _thing_behind(tokens, flag.end, lexicon, flag)
        end = _rest_behind(tokens, joined, lexicon, flag)
        end = _without_behind(tokens, flag, lexicon) if end is None else end
        first = _before_with(tokens, at)
        if end is None and first < at and _ends(tokens, flag.end):
            first = _before_both(tokens, first)
            end = flag.end if first < _before_with(tokens, at) else None
        if end is None:
            continue
        while first > 1 and tokens[first - 1].word in {"the", "our", "all"}:
            first -= 1
        first -= first > 1 and tokens[first - 1].word in _BEFORE
        first -= first > 1 and tokens[first - 1].word in {",", "-", ":"}
        per = replace(tokens[at], text="per", word="per", stem="per", kind="word")
        text = name.rsplit(".", 1)[1]
        named = replace(tokens[at], text=text, word=name, stem=stem(name), kind="name")
        return (*tokens[:first], per, named, *tokens[end:])
    return tokens


def _before_with(tokens: tuple[Token, ...], at: int) -> int:
    """Where "with a" before a flag begins; the flag itself where it does not stand there."""
    first = at - (tokens[at - 1].word in ARTICLES)
    return first - 1 if first > 1 and tokens[first - 1].word in _HAVING else at


def _before_both(tokens: tuple[Token, ...], first: int) -> int:
    """Where "with and without" begins that ends here; the same place: it does not stand there."""
    words = tuple(token.word for token in tokens[max(first - 2, 0) : first + 1])
    return first - 2 if first > 2 and words in _BOTH else first


def _without_behind(tokens: tuple[Token, ...], flag: Mention, lexicon: Lexicon) -> int | None:
    """Where "versus those without" behind "with a balcony" ends; None: it does not stand here."""
    words = [token.word for token in tokens]
    if _before_with(tokens, flag.start) == flag.start:
        return None
    for joined in _JOINED:
        at = flag.end + len(joined)
        if tuple(words[flag.end : at]) != joined:
            continue
        at += words[at : at + 1] in (["of"], ["for"], ["from"], ["in"])
        at += words[at : at + 1] == ["the"]
        thing = lexicon.mention(tokens, at, 2) if at < len(words) and words[at] not in _LACKING else None
        own = {sense.table for sense in flag.senses}
        if words[at : at + 1] and words[at] in {"those", "ones", "others"}:
            at += 1
        elif thing is not None and any(s.table in own and s.quality >= NEARLY_NAME for s in thing.of_kind("table")):
            at = thing.end
        if words[at : at + 1] and words[at] in _LACKING:
            at += 1
            at += words[at : at + 1] != [] and words[at] in {*ARTICLES, "any", "one", "it"}
            again = lexicon.mention(tokens, at) if at < len(words) else None
            at = again.end if again is not None and again.senses == flag.senses else at
            return at if _ends(tokens, at) else None
    return None


def _ends(tokens: tuple[Token, ...], at: int) -> bool:
    return at >= len(tokens) or tokens[at].kind == "symbol" or tokens[at].word in {"in", "per", "by"}


def flag_of(mention: Mention, lexicon: Lexicon) -> str:
    """The full name of the column of yes or no that a phrase says; empty: it says something else, too."""
    senses = [sense for sense in mention.senses if sense.quality >= NEARLY_NAME]
    flags = [sense for sense in senses if lexicon.is_flag(sense)]
    roots = {root_of(lexicon, s.table, s.column) for s in flags}
    if len(flags) != len(senses) or len(roots) != 1:
        return ""
    return ".".join(roots.pop())


def _thing_behind(tokens: tuple[Token, ...], at: int, lexicon: Lexicon, flag: Mention) -> int:
    """Behind the rows that a flag stands before: "rush jobs"."""
    found = lexicon.mention(tokens, at, 2) if at < len(tokens) else None
    own = {sense.table for sense in flag.senses}
    rows = found is not None and any(s.table in own and s.quality >= NEARLY_NAME for s in found.of_kind("table"))
    return found.end if rows and found is not None else at


def _rest_behind(tokens: tuple[Token, ...], at: int, lexicon: Lexicon, flag: Mention) -> int | None:
    """Where "versus others" ends, and the wish or a part of it with it; None: it does not stand here."""
    words = [token.word for token in tokens]
    for joined in _JOINED:
        if tuple(words[at : at + len(joined)]) != joined:
            continue
        behind = at + len(joined)
        behind += words[behind : behind + 1] in (["of"], ["for"])
        for rest in _REST:
            if tuple(words[behind : behind + len(rest)]) != rest:
                continue
            end = behind + len(rest)
            if rest[-1] in _OPEN_ENDED:
                end = _behind_open(tokens, end, lexicon, flag, needed=rest[-1] != "not")
            if end and (end >= len(words) or tokens[end].kind == "symbol" or words[end] in {"in", "per", "by"}):
                return end
    return None


def _behind_open(tokens: tuple[Token, ...], at: int, lexicon: Lexicon, flag: Mention, *, needed: bool) -> int:
    """Behind the things of "other customers", or the flag of "non-members"; 0: neither stands here, and it must."""
    found = lexicon.mention(tokens, at) if at < len(tokens) else None
    own = {sense.table for sense in flag.senses}
    same = found is not None and any(
        sense.table in own and (sense.kind == "table" or sense.column in {s.column for s in flag.senses})
        for sense in found.senses
    )
    if same and found is not None:
        return found.end
    return 0 if needed else at
