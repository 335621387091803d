"""As in "sites with key": a word that is the code of a value, and a name of something else that the rows have."""

from streamhouse.planner.language.answered_wish import AnsweredWish
from streamhouse.planner.language.scope import name_stems
from streamhouse.planner.language.tokens import Token
from streamhouse.planner.request import ColumnRef, Condition, Question


def code_or_column(wish: AnsweredWish) -> Question | None:
    """A word in small letters that is only the code of a value, and a part of another column of the things named."""
    for one in wish.block.filters:
        if not isinstance(one, Condition) or not isinstance(one.left, ColumnRef):
            continue
        reach = wish.scope.reaches.get(one.left.role)
        column = reach.table.column(one.left.column) if reach is not None else None
        for value in one.values if column is not None and reach is not None else ():
            words = {word.lower() for word in column.values.get(str(value), ()) if word != value} if column else set()
            token = next((t for t in wish.tokens if t.text.islower() and t.text == str(value).lower()), None)
            other = _named(wish, token, one.left.column) if words and token and token.text not in words else ""
            if token is not None and other and column is not None and reach is not None:
                text = f"'{token.text}': {reach.table.name}.{column.name} '{value}', or {other}?"
                return Question(text=text, phrase=token.text)
    return None


def _named(wish: AnsweredWish, token: Token, column: str) -> str:
    """Another column of the things in the wish whose name has a word; empty: there is none."""
    for name in sorted(wish.things):
        for one in wish.lexicon.catalog.tables[name].columns:
            if one.name != column and token.stem in name_stems(one):
                return f"{name}.{one.name}"
    return ""
