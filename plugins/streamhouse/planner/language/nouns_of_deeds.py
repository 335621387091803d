"""As in "registrations per month", where the catalog only knows who "registered"."""

from dataclasses import replace

from streamhouse.planner.language.levels import ANY_FORM
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.nouns_of_times import DONE
from streamhouse.planner.language.origins import root_of
from streamhouse.planner.language.scope import TIMES
from streamhouse.planner.language.tokens import Token, singular, stem

_BEFORE = frozenset({"", "of", "many", "the", "all", "our", "new", "and", "more", "most", "fewest", ","})


def with_verbs_of_nouns(tokens: tuple[Token, ...], lexicon: Lexicon) -> tuple[Token, ...]:
    """The tokens with nouns for deeds as forms of the participles by which only one time is called."""
    changed = list(tokens)
    for at, token in enumerate(tokens):
        noun = singular(token.word)
        plural = token.kind == "word" and noun != token.word and noun in DONE
        before = tokens[at - 1].word if at else ""
        if not plural or before not in _BEFORE or lexicon.mention(tokens, at, 1) is not None:
            continue
        stems = [stem(done) for done in DONE[noun] if " " not in done and _is_one_time(stem(done), lexicon)]
        if len(stems) == 1:
            changed[at] = replace(token, stem=stems[0])
    return tuple(changed)


def _is_one_time(verb: str, lexicon: Lexicon) -> bool:
    """Whether a stem names nothing but one time."""
    tables = lexicon.catalog.tables
    senses = [one for one in lexicon.meanings((verb,)) if one.quality >= ANY_FORM]
    times = all(one.kind == "column" and tables[one.table].column(one.column).type in TIMES for one in senses)
    return times and len({root_of(lexicon, one.table, one.column) for one in senses}) == 1
