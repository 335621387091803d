# ruff: noqa: E501 - one pattern a line
"""Turns for questions of which part of some rows something is true: "what proportion of the tickets is paid". No catalog is asked.

A turn that would drop a word with a meaning keeps that word, so that the grammar refuses what it cannot place.
"""

_PART = r"(share|percentage|percent|proportion|fraction|portion)"
_ALL = r"(?:all (?:of )?(?:the |our )?|the |our )?"
_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_BEING = r"(?:is|are|was|were)"
_BEHIND = r"(?=,| per | by |[.!?]*\s*$)"
_IRREGULAR = {
    "lose": "lost", "sell": "sold", "send": "sent", "pay": "paid", "win": "won", "get": "got", "buy": "bought",
    "make": "made", "take": "taken", "give": "given", "write": "written", "hold": "held", "keep": "kept",
    "catch": "caught", "lend": "lent", "build": "built", "find": "found", "cut": "cut", "put": "put", "read": "read",
}  # fmt: skip
_OFTEN = r"(?:most|least) (?:often|frequently)"
_WE = r"(?:did|do|have) (?:we|you|they|our [a-z]+)"


def _did(verb: str, participle: str) -> tuple[str, str]:
    return rf"\bwhat {_PART} of {_ALL}{_THINGS} {_WE} {verb}{_BEHIND}", rf"\1 of \2 that were {participle}"


def _did_often(verb: str, participle: str) -> tuple[str, str]:
    return (
        rf"\b(which|what) ((?:\d+ |two |three |four |five |ten )?(?:[a-z]+ )?[a-z]+) (?:did|do) (?:we|you) {verb}( in| up| back)? ({_OFTEN})\b",
        rf"\1 \2 were {participle}\3 \4",
    )


TURNS_OF_SHARES: tuple[tuple[str, str], ...] = (
    # "of the boats of each kind is rented": an earlier turn has put "per" in place of "of each"
    (
        rf"\bwhat {_PART} of {_ALL}{_THINGS} (?:per|of each|of every|in each|for each) ([a-z]+(?: [a-z]+)?) {_BEING} ([a-z]+(?: [a-z]+)?)(?=[.!?]*\s*$)",
        r"\1 of \2 that are \4 per \3",
    ),
    (rf"\bwhat {_PART} of {_ALL}{_THINGS} {_BEING} (?:not |non-?)([a-z]+){_BEHIND}", r"\1 of \2 that are not \3"),
    (rf"\bwhat {_PART} of {_ALL}{_THINGS} {_BEING} un([a-z]{{4,}}ed){_BEHIND}", r"\1 of \2 that are not \3"),
    *(_did(verb, participle) for verb, participle in _IRREGULAR.items()),
    *(_did_often(verb, participle) for verb, participle in _IRREGULAR.items()),
    (rf"\bwhat {_PART} of {_ALL}{_THINGS} {_WE} ([a-z]+e){_BEHIND}", r"\1 of \2 that were \3d"),
    (rf"\bwhat {_PART} of {_ALL}{_THINGS} {_WE} ([a-z]+[bcdfghklmnpqrstvwxz])y{_BEHIND}", r"\1 of \2 that were \3ied"),
    (
        rf"\bwhat {_PART} of {_ALL}{_THINGS} did (?:we|you|they|our [a-z]+) ([a-z]+(?<!e)(?<!y)){_BEHIND}",
        r"\1 of \2 that were \3ed",
    ),
)
