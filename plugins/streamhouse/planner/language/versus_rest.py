"""As in "key accounts versus other customers": a group for what is so, and one for what is not."""

from dataclasses import replace

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.tokens import Token, stem

_VERSUS = (("versus",), ("vs",), ("vs", "."), ("v",), ("compared", "with"), ("compared", "to"), ("against",))
_JOINED = (*_VERSUS, ("and",), ("or",), ("and", "for"), ("and", "of"))
_REST = (("others",), ("the", "others"), ("the", "rest"), ("the", "other", "ones"), ("all", "others"),
         ("those", "who", "are", "not"), ("those", "that", "are", "not"), ("ones", "that", "are", "not"),
         ("non",), ("other",), ("all", "other"), ("the", "other"))  # fmt: skip
_OPEN_ENDED = frozenset({"other", "non", "not"})  # a thing may stand behind
_BEFORE = frozenset({"for", "of", "by", "between", "from"})


def with_both_sides(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with a group by what is yes or no, where a wish wants those of which it is so and the others."""
    for at in range(1, len(tokens)):
        flag = lexicon.mention(tokens, at)
        name = _flag_of(flag, lexicon) if flag is not None else ""
        if flag is None or not name:
            continue
        joined = _thing_behind(tokens, flag.end, lexicon, flag)
        end = _rest_behind(tokens, joined, lexicon, flag)
        if end is None:
            continue
        first = at
        while first > 1 and tokens[first - 1].word in {"the", "our", "all"}:
            first -= 1
        first -= first > 1 and tokens[first - 1].word in _BEFORE
        first -= first > 1 and tokens[first - 1].word in {",", "-", ":"}
        per = replace(tokens[at], text="per", word="per", stem="per", kind="word")
        text = name.rsplit(".", 1)[1]
        named = replace(tokens[at], text=text, word=name, stem=stem(name), kind="name")
        return (*tokens[:first], per, named, *tokens[end:])
    return tokens


def _flag_of(mention: Mention, lexicon: Lexicon) -> str:
    """The full name of the column of yes or no that a phrase says; empty: it says something else, too."""
    tables = lexicon.catalog.tables
    senses = [sense for sense in mention.senses if sense.quality >= NEARLY_NAME]
    flags = [s for s in senses if s.column and tables[s.table].column(s.column).type == "boolean"]
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
