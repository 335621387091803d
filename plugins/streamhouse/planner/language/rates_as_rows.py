"""As in "day passes at concession rate": a rate behind "at" says which rows are meant, and is no figure."""

from dataclasses import replace

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.levels import WHOLE_NAME
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.reader import DETERMINERS
from streamhouse.planner.language.tokens import Token, place_behind, stem
from streamhouse.planner.language.words import RATES, SHARES
from streamhouse.planner.request import Question

_PRICES = frozenset({"rate", "rates", "price", "prices", "fare", "fares", "tariff", "tariffs"})
_LONGEST = 4  # words between "at" and the rate


def with_rates_as_rows(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "with concession" for "at the concession rate", where that is a column of yes or no."""
    for at in range(1, len(tokens) - 2):
        if tokens[at].word != "at":
            continue
        begin = place_behind(DETERMINERS, tokens, at + 1)
        flag = lexicon.mention(tokens, begin) if begin < len(tokens) else None
        if flag is None or flag.end >= len(tokens) or tokens[flag.end].word not in _PRICES:
            continue
        columns = [one for one in flag.of_kind("column") if one.quality >= WHOLE_NAME]
        if columns and all(map(lexicon.is_flag, columns)):
            said = " ".join(token.text for token in tokens[at : flag.end + 1])
            draft.assumptions.append(f"'{said}' means rows with {flag.text}")
            link = replace(tokens[at], text="with", word="with", stem=stem("with"))
            return (*tokens[:at], link, *tokens[begin : flag.end], *tokens[flag.end + 1 :])
    return tokens


def rate_as_figure(wish: AnsweredWish) -> Question | None:
    """As in "average fare at the student rate", where the answer has a share that only the rate asks for."""
    shares = [one for one in wish.block.derived if one.kind in {"ratio", "share"}]
    for at in range(2, len(wish.tokens)) if shares else ():
        word = wish.word(at)
        before = [wish.word(back) for back in range(max(at - _LONGEST, 0), at)]
        if word in {*RATES, *SHARES, "rates"} and "at" in before[:-1] and wish.word(at + 1) != "of":
            begin = at - len(before) + before.index("at")
            said = " ".join(token.text for token in wish.tokens[begin : at + 1])
            text = f"'{said}': which rows are meant? A {word} behind 'at' is no further figure"
            return Question(text=text, phrase=said)
    return None
