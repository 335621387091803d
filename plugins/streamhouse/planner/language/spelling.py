"""Slips of the finger in ordinary words that a wish is built from."""

from dataclasses import replace

from rapidfuzz import process
from rapidfuzz.distance import OSA

from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, stem
from streamhouse.planner.language.words import FILLERS

_ORDINARY = """number average total highest lowest between before after without during percentage share monthly
    daily weekly yearly quarter month where which every latest earliest count median maximum minimum
    revenue distinct different cumulative running moving compared previous excluding except longer
    shorter least greater smaller""".split()


_SLIPS = {
    "wich": "which", "whitch": "which", "whith": "with", "wiht": "with", "witht": "with", "teh": "the", "adn": "and",
    "thier": "their", "taht": "that", "avarage": "average", "averege": "average", "untill": "until",
    "beetween": "between", "befor": "before", "evry": "every", "mnay": "many", "hwo": "how", "waht": "what",
    "wtih": "with", "eahc": "each", "whcih": "which", "whihc": "which", "wher": "where",
}  # fmt: skip
"""Frequent slips in words of the grammar, too short or too far away to be found by their letters."""


def respelled_words(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[tuple[Token, ...], list[str]]:
    """The tokens with misspelled ordinary words put right, and what was assumed.

    Only a word that no catalog's text has is changed, and only where a single ordinary word is one slip away.
    """
    found, assumed = list(tokens), []
    for at, token in enumerate(tokens):
        slip = _SLIPS.get(token.word) if token.kind == "word" and token.word not in lexicon.vocabulary else None
        if slip is not None and (token.stem,) not in lexicon.entries:
            found[at] = replace(token, word=slip, stem=stem(slip))
            assumed.append(f"'{token.text}' is read as '{slip}'")
            continue
        if token.kind != "word" or len(token.word) < 5 or not token.word.isalpha() or (token.text[0].isupper() and at):
            continue
        if token.word in FILLERS or token.word in _ORDINARY or token.word in lexicon.vocabulary:
            continue
        named = lexicon.respelled(token.word)
        if (token.stem,) in lexicon.entries or token.stem in lexicon.described or (named and named not in _ORDINARY):
            continue
        near = process.extract(token.word, _ORDINARY, scorer=OSA.distance, score_cutoff=1, limit=2)
        if len(near) == 1 and near[0][0][0] == token.word[0] and not _is_form(token.word, near[0][0]):
            spelled = near[0][0]
            found[at] = replace(token, word=spelled, stem=stem(spelled))
            assumed.append(f"'{token.text}' is read as '{spelled}'")
    return tuple(found), assumed


def _is_form(one: str, other: str) -> bool:
    """Whether a word is another form of the same one, or a longer one that begins so."""
    return one.startswith(other) or other.startswith(one) or stem(one) == stem(other)
