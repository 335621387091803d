"""A thing behind a comma that only says which rows count: "lessons per instructor, learners from Millbank only"."""

from streamhouse.planner.language.levels import NEARLY_NAME
from streamhouse.planner.language.reader import Reader, is_done

_SAYING_OF = frozenset({"from", "who", "whose", "that", "which", "with", "without", "older", "younger", "on", "in"})


def restricts(reader: Reader, at: int) -> bool:
    """Whether more is said of the thing that begins at a token, so that it is a condition and no group.

    Example:
        "average load by make, trucks bought since 2020 only" has a row for each make, not for each truck.
    """
    here, reader.at = reader.at, at
    thing = reader.noun()
    end, reader.at = reader.at, here
    if thing is None or not any(sense.quality >= NEARLY_NAME for sense in thing.head.of_kind("table")):
        return False
    if any(sense.quality >= NEARLY_NAME for mention in thing.around for sense in mention.of_kind("value")):
        return True
    rest = [token.word for token in reader.tokens[end:] if token.kind != "symbol"]
    following = reader.lexicon.mention(reader.tokens, end)
    return bool(rest) and (
        rest[0] in _SAYING_OF | {"only"} or rest[-1] == "only" or (following is not None and is_done(following))
    )


def restricts_rows(reader: Reader, start: int) -> bool:
    """Whether a noun only says which rows are meant: "billed amount per department, only invoices from March"."""
    known = reader.draft.figures or reader.draft.nouns or reader.draft.groups
    if not start or not known:
        return False
    before = reader.tokens[start - 1].word
    return before in {"only", "just"} or (
        before == "," and bool(reader.draft.groups or reader.draft.figures) and restricts(reader, start)
    )
