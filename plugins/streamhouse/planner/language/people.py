"""Whom "people" means: the things of the one table whose people did what is said of them."""

from dataclasses import replace

from streamhouse.planner.catalog import CatalogTable
from streamhouse.planner.language.draft import Draft
from streamhouse.planner.language.lexicon import Lexicon
from streamhouse.planner.language.tokens import Token, singular, stem, stems
from streamhouse.planner.language.words import VERB_NOUNS, is_past_form

_PEOPLE = frozenset({"people", "persons", "folks", "everybody", "everyone", "anybody", "anyone"})
_BEFORE = frozenset({"", "many", "of", "which", "list", "show", "find", "all", "the", "give", "me", "name", "different",
                     "count", "are", "distinct", "what"})  # fmt: skip
_BETWEEN = frozenset({"who", "that", "have", "has", "had", "ever", "never", "not", "also", "we", "did", "do"})
_CALLED = frozenset({"customer", "member", "guest", "patient", "student", "learner", "subscriber", "user", "client",
                     "reader", "visitor", "passenger", "rider", "employee", "pupil", "tenant", "donor"})  # fmt: skip
_NEAR = 3  # words between "people" and what they did


def named_people(tokens: tuple[Token, ...], lexicon: Lexicon, draft: Draft) -> tuple[Token, ...]:
    """The tokens with "people" as what the catalog calls them, where that is certain."""
    for at, token in enumerate(tokens):
        before = tokens[at - 1].word if at else ""
        if token.word not in _PEOPLE or before not in _BEFORE or token.kind != "word":
            continue
        if lexicon.mention(tokens, at, 1) is not None:
            return tokens
        name = _name(tokens, at, lexicon)
        if name:
            draft.assumptions.append(f"'{token.text}' is read as '{name}'")
            return (*tokens[:at], replace(token, text=name, word=name, stem=stem(name)), *tokens[at + 1 :])
    return tokens


def _name(tokens: tuple[Token, ...], at: int, lexicon: Lexicon) -> str:
    tables = [one for one in lexicon.catalog.tables.values()
              if holds_people(one, lexicon) and _did(one, _verb(tokens, at), lexicon)]  # fmt: skip
    name = tables[0].name.split(".")[1] if len(tables) == 1 else ""
    return name if name.isalpha() else ""


def holds_people(table: CatalogTable, lexicon: Lexicon) -> bool:
    """Whether rows of a table that others point to are people."""
    if not lexicon.children.get(table.name):
        return False
    words = table.description.lower().split()[:1]
    return words in (["people"], ["persons"]) or singular(table.name.split(".")[1]) in _CALLED


def names_people(word: str) -> bool:
    """Whether a word is one for people, by itself or by how it ends: "customers", "drivers", "trainees"."""
    plain = singular(word.lower())
    return word.lower() in _PEOPLE or plain in _CALLED or plain.endswith(_DOERS)


_DOERS = ("er", "or", "ee", "ist", "ian")


def _verb(tokens: tuple[Token, ...], at: int) -> str:
    """The stem of what people did: "ordered" of "people who have ordered"; empty: nothing is said."""
    after = [token.word for token in tokens[at + 1 : at + 2 + _NEAR] if token.word not in _BETWEEN]
    done = after[0] if after else ""
    return stem(done) if is_past_form(done) else ""


def _did(table: CatalogTable, verb: str, lexicon: Lexicon) -> bool:
    """Whether people of a table do what a verb says, by its description or by rows that point to them."""
    if not verb:
        return False
    if verb in stems(table.description):
        return True
    nouns = {verb, *VERB_NOUNS.get(verb, ())}
    return any(stem(singular(key.table.split(".")[1])) in {stem(noun) for noun in nouns}
               for key in lexicon.children.get(table.name, [])) and _only_one(table, nouns, lexicon)  # fmt: skip


def _only_one(table: CatalogTable, nouns: set[str], lexicon: Lexicon) -> bool:
    """Whether what was done points to these people alone."""
    done = {key.table for key in lexicon.children.get(table.name, [])
            if stem(singular(key.table.split(".")[1])) in {stem(noun) for noun in nouns}}  # fmt: skip
    others = {key.to for one in done for key in lexicon.keys.get(one, [])
              if holds_people(lexicon.catalog.tables[key.to], lexicon)}  # fmt: skip
    return others == {table.name}
