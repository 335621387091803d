# ruff: noqa: E501 - one pattern a line
"""Turns for counts beside groups: shares by where rows come from, "how many of each", both answers to a question of yes and no."""

_PART = r"(share|percentage|percent|proportion|fraction|portion)"
_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_END = r"(?=[.!?]*\s*$)"
_GROUPED = r"(?:per|by|for each|for every|in each|of each)"
_COMES = r"(?:comes?|came|come in|comes in|came in|is|are|was|were)"
_WAYS = r"(?=(?:from|via|through|over|by) (?!(?:each|every|month|week|day|year|quarter|hour|how)\b))"
_NOT = r"(?:do not|don't|dont|does not|doesn't|doesnt|did not|didn't|didnt)"
_ARE_NOT = r"(?:are not|aren't|arent|were not|weren't|werent|is not|isn't|isnt)"
_BEHIND = r"(?=,? (?:per|by) |[.!?]*\s*$)"
_OF_EACH = r"(?:and )?how many (?:(?:are|were) there )?of each(?: (?:there (?:are|were)|we (?:have|had|got)))?"
_WORDS = ("one", "two", "three", "four", "five")

TURNS_OF_COUNTING: tuple[tuple[str, str], ...] = (
    # where rows come from says which part of them is meant
    (rf"\b(?:what|which) {_PART} of (?:all )?(?:of )?(?:the |our )?{_THINGS} (?:that |which )?{_COMES} {_WAYS}", r"\1 of \2 "),
    # how many of each group
    (rf"^(?:the |our |all )?(kind|type|sort)s of (?:the |our |all )?([a-z]+s),? {_OF_EACH}{_END}", r"number of \2 per \1 of \2"),
    (rf"^(?:the |our |all )?((?:[a-z]+ )?[a-z]+)s (?:for|of|behind) (?:the |our |all )?([a-z]+s),? {_OF_EACH}{_END}", r"number of \2 per \1"),
    (rf"^(?:the |our |all )?{_THINGS} {_GROUPED} ([a-z]+(?: [a-z]+)?),? {_OF_EACH}{_END}", r"number of \1 per \2"),
    # both sides of what is yes or no
    (rf"^how many (?:of (?:the|our) )?([a-z]+s) ([a-z]+(?: (?:the|an?|our))?(?: [a-z]+)?),? and how many {_NOT}(?: need it| have it| \2)?{_BEHIND}", r"number of \1 by whether they \2"),
    (rf"^how many (?:of (?:the|our) )?([a-z]+s) (?:are|were) ([a-z]+(?: [a-z]+)?),? and how many {_ARE_NOT}(?: \2)?{_BEHIND}", r"number of \1 by whether they are \2"),
    # two years side by side
    (r"\bcompared (?:with|to) (?=(?:in )?(?:19|20)\d\d\b)", "vs "),
    # what is left out, behind the wish
    (rf"(?:,|;| -| –) ?(?:the )?((?:[a-z]+(?:'s)? )?[a-z]+s) (?:are |is )?(?:excluded|left out|not counted|not included){_END}", r", excluding \1"),
    # two values before the rows
    (r"\b(number of|how many) ([a-z]+) (?:vs\.?|versus) ([a-z]+) ([a-z]+s)\b", r"\1 \4, \2 vs \3,"),
    # marks in words
    *((rf"\bwith {word}[- ]stars?\b(?! or )", f"with exactly {n} stars") for n, word in enumerate(_WORDS, start=1)),
)  # fmt: skip
"""Pattern → what its matches become."""
