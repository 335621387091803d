"""The account of the words of a wish: each says nothing anywhere, is a name or a figure of the answer, or decides it.

A word that is neither, and without which the answer is the same, was passed over: so the wish is not answered. It is
the last check of a reading. It looks at the wish and at the answer alone, and knows nothing of the rules between them.
"""

import re
from collections.abc import Callable
from itertools import groupby
from typing import Any

from streamhouse.planner.language.account import stands_for
from streamhouse.planner.language.dates import is_may
from streamhouse.planner.language.levels import NEAR, WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon, Mention
from streamhouse.planner.language.request_parts import RequestParts
from streamhouse.planner.language.tokens import Token, tokenize
from streamhouse.planner.language.traces import has_trace, options_said
from streamhouse.planner.language.used import used_by
from streamhouse.planner.language.words import QUESTION_WORDS
from streamhouse.planner.request import Request, Understood

Read = Callable[[str], Understood]
_WORD = re.compile(r"(?:\d[\d.,:/-]*\d|\d)(?:st|nd|rd|th)?|[^\W\d_]+n['’]t\b|[^\W\d_]+(?:['’](?:s|re|d|ll|ve|m)\b)?")
_LONGEST = 6
_SAYS_NOTHING = frozenset(
    """a an the of in on at for from to with and as by into about because during among amongst through upon via
    that which who whom whose what where how whats hows wheres whos there
    here i me my we us our you your it its he she they them their this
    these those ones is are was were be been being am has have had having do does did can could will would shall
    should may might please pls plz kindly show list give
    tell get display find fetch return compute calculate determine see
    know want need let's also somebody someone people but now currently presently nowadays broken
    down split grouped group""".split()
)
"""Words that change nothing, wherever they are in a wish."""


def passed_over(wish: str, found: Understood, described: list[str], lexicon: Lexicon, read: Read) -> str:
    """The first words of a wish without which its answer is the same, and that say nothing of it; empty: none.

    Args:
        wish: As a person wrote it.
        found: How it was read; it has a Request.
        described: Phrases that only descriptions of what is read have.
        lexicon: Of the catalog that it was read over.
        read: Reads another wish over the same catalog.
    """
    assert found.request is not None
    wish = _SHORT.sub(lambda short: "without" if short.group().endswith("o") else "with", wish)
    for pattern, plain in _NO_MORE:
        wish = pattern.sub(plain, wish)
    wanted = _answer(found)
    for start, end in _open_runs(wish, found, described, lexicon):
        if _answer(read(wish[:start] + wish[end:])) == wanted:
            return wish[start:end]
    return ""


_NO_MORE = tuple(
    (re.compile(pattern, re.IGNORECASE), plain)
    for pattern, plain in (
        (r"\bin terms of\b", "by"),
        (r"\b(?:that |which )?(?:have |had )?(?:led to|resulted in)\b", "with"),
        (r"\b(?:so far )?(?:in )?this year(?: so far)?,? (?=\(?(?:in )?(?:19|20)\d\d\b)", ""),
    )
)
"""Patterns → words that say as much."""
_SHORT = re.compile(r"\bw/o\b|\bw/(?= )")  # as in "pools w/ more than 5 lanes"


def _open_runs(wish: str, found: Understood, described: list[str], lexicon: Lexicon) -> list[tuple[int, int]]:
    """Where the words are that nothing accounts for: each alone, and those that follow each other together."""
    assert found.request is not None
    matches = list(_WORD.finditer(wish))
    words = [_plain(match.group()) for match in matches]
    answer = RequestParts(found.request, used_by(found.request.block, lexicon, joined=False))
    named, other = _named(wish, answer)
    known = _SAYS_NOTHING | named | _noted(found) | _words(" ".join(described)) | options_said(found.request)
    codes, months = _codes(wish), _months(wish)
    is_open = [
        match.group() in codes
        or match.start() in months
        or _asks_more(words, at)
        or (word not in known and not has_trace(words, at, answer, is_name=word in other))
        for at, (match, word) in enumerate(zip(matches, words, strict=True))
    ]
    runs: list[tuple[int, int]] = []
    for one, group in groupby(range(len(words)), key=lambda at: is_open[at]):
        places = list(group)
        if not one:
            continue
        runs += [matches[at].span() for at in places]
        if len(places) > 1:
            runs.append((matches[places[0]].start(), matches[places[-1]].end()))
    return runs


def _asks_more(words: list[str], at: int) -> bool:
    """A question behind the wish: "and by whom", "and when"."""
    return words[at] in QUESTION_WORDS and (
        at == len(words) - 1 or (words[at] == "whom" and words[at - 1 : at] == ["by"])
    )


def _codes(wish: str) -> frozenset[str]:
    """Words in capitals of a wish that is not written so: "BE" is no "be"."""
    capitals = {match.group() for match in _WORD.finditer(wish) if match.group().isalpha() and match.group().isupper()}
    plain = {word for word in capitals if len(word) > 1 and word.lower() in _SAYS_NOTHING}
    return frozenset(plain) if wish != wish.upper() else frozenset()


def _months(wish: str) -> frozenset[int]:
    """Where "May" is a month, which the list of words that say nothing has as a verb."""
    tokens = tokenize(wish)
    return frozenset(token.start for at, token in enumerate(tokens) if is_may(tokens, at))


def _plain(word: str) -> str:
    return re.sub(r"['’](?:s|re|d|ll|ve|m)$", "", word.lower().replace("’", "'"))


def _words(text: str) -> frozenset[str]:
    return frozenset(_plain(match.group()) for match in _WORD.finditer(text))


def _noted(found: Understood) -> frozenset[str]:
    """Words that the assumptions of a reading quote: a person sees what became of them."""
    quoted = re.findall(r"'([^']+)'", " ".join(found.assumptions))
    return _words(" ".join(quoted))


def _named(wish: str, answer: RequestParts) -> tuple[frozenset[str], frozenset[str]]:
    """Words of names of the catalog that a part of the answer stands for, and those that only are names of others."""
    lexicon = answer.used.lexicon
    tokens = tokenize(wish)
    found: set[str] = set()
    others: set[str] = set()
    for at in range(len(tokens)):
        for length in range(1, min(_LONGEST, len(tokens) - at) + 1):
            mention = lexicon.mention(tokens, at, length)
            if mention is None or mention.end - at < length:
                continue
            likely = [sense for sense in mention.senses if sense.quality >= mention.best - NEAR]
            if any(sense.kind != "state" and stands_for(sense, answer.used) for sense in likely):
                found |= _words(" ".join(mention.words))
            elif (
                length > 1
                and not _goes_on(mention, tokens)
                and any(one.quality >= WHOLE_NAME for one in mention.of_kind("column", "value"))
            ):
                others |= _words(" ".join(mention.words))
    return frozenset(found), frozenset(others - found)


def _goes_on(mention: Mention, tokens: tuple[Token, ...]) -> bool:
    """Whether a name ends with a preposition that belongs to what follows: "sold at | the box office"."""
    following = tokens[mention.end].kind if mention.end < len(tokens) else "symbol"
    return mention.words[-1] in _SAYS_NOTHING and following != "symbol"


def _answer(found: Understood) -> Any:
    """What a wish is answered with, whatever its columns are called; None: it is not."""
    if found.request is None:
        return None
    return _without_names(found.request), tuple(sorted(found.assumptions))


def _without_names(request: Request) -> Any:
    names: dict[str, str] = {}

    def plain(part: Any) -> Any:
        if isinstance(part, dict):
            if isinstance(part.get("name"), str):
                names.setdefault(part["name"], f"#{len(names)}")
            return {key: plain(value) for key, value in part.items() if key != "wish"}
        if isinstance(part, list | tuple):
            return [plain(one) for one in part]
        return names.get(part, part) if isinstance(part, str) else part

    return plain(request.model_dump(mode="json"))
