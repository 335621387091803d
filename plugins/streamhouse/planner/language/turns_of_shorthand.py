# ruff: noqa: E501 - one pattern a line
"""Turns for groups that a plus joins, lengths asked for in days, percents behind their number, and double prepositions. No catalog is asked."""

_END = r"(?=[.!?]*\s*$|,? (?:per|by|for each|in each) )"
_DATE = r"(?=(?:(?:early|mid|late) )?(?:[A-Z][a-z]+ )?(?:19|20)\d\d\b)"
_DONE = (
    r"paid|sold|sent|left|won|lost|met|spent|bought|brought|kept|held|made|read|come|become|run|begun|built|lent|hit|cut|put|set|let|quit"
    r"|cost|shut|slept|taught|caught|sought|found|heard|told|said|had|got|swum|sung|rung|drunk|fed|led|bred|flown|grown|known|thrown|shown|worn"
)
_SOME = (
    r"(?!(?:each|every|to|been|no|not|never|more|less|fewer|at|over|under|the|an?|any|all|both|most|only|ever|already|we|they|their|"
    rf"{_DONE})\b|[a-z]+(?:ed|en|ne)\b)"
)
_USUALLY = r"(?: (?:usually|normally|typically))?"

TURNS_OF_SHORTHAND: tuple[tuple[str, str], ...] = (
    # groups that a plus joins
    (r"\b(per|by) ([a-z]+(?: [a-z]+)?) ?\+ ?(?=[a-z])", r"\1 \2 and "),
    # a length on average, in days
    (rf"^(?:and )?(?:on average,? )?how many (days|hours|minutes) (?:does|do|did) it{_USUALLY} take(?: us| you| them)?(?:,? on average,?)? to ([a-z]+ (?:an?|the|our|one) [a-z]+)(?:,? on average)?{_END}", r"average time to \2 in \1"),
    # a bound around the name of what it is of
    (r"\bwith (\d[\d.]*) ?(?:%|percent) ([a-z]+) or (?:more|higher|above|over)\b(?! than)", r"with \2 of at least \1 %"),
    (r"\bwith (\d[\d.]*) ?(?:%|percent) ([a-z]+) or (?:less|lower|below|under)\b(?! than)", r"with \2 of at most \1 %"),
    # what things have
    (rf"\bhow many (?:of )?(?:the |our )?([a-z]+s) had (?={_SOME}[a-z]+(?:[.!?]*\s*$|,? (?:per|by|in) ))", r"how many \1 with "),
    (r"\bhow many (?:of )?(?:the |our )?([a-z]+s) have (?=an? (?!lot\b|few\b|total\b|average\b|maximum\b|minimum\b))", r"how many \1 with "),
    # since a day that lies before another one
    (rf"\bsince before {_DATE}", "before "),
)  # fmt: skip
"""Pattern → what its matches become."""
