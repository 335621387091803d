"""Turns of English around a figure: number and sum side by side, how many each of another thing has, its unit."""

_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_GROUPED = r"(?:per|by|for each|for every|in each)"
_AN = r"(?:an?|each|every|one|our|the average)"
_HAD = r"(?:has|have|had|makes?|made|gets?|got|gives?|gave|places?|takes?|took|does|did|owns?)"
_DONE = r"[a-z]+ed|bought|sold|won|lost|sent"
_MARK = r"(?:,|:|;|-|–)"
_COUNT_AND = r"(?:number|count) and (?:the )?(?:total )?"
_SUM = r"(?:amount|value|sum|(?<=total )price|cost)"  # a price is of each row
_SHOWN = r"(?:expressed|given|shown|stated|converted|displayed|measured)"
_UNIT = r"(?:seconds|minutes|hours|days|weeks|km|kilometres|metres|miles|kg|kilos|tonnes|litres|liters|euros?|dollars)"
_PLAIN = r"(?!(?:the|and|of|in|on|at|by|for|from|to|with|all|not|per|each|every|that|which|who|how|many)\b)[a-z]+"
_DESCRIBED = rf"(?:{_PLAIN} ){{1,2}}{_PLAIN}"  # "birthday parties": of one word alone all rows count
_FOLD = r"(?:average|mean|median|total|highest|lowest|maximum|minimum)"
_GROUPS_OR_END = r"(?=,? (?:per|by|for each|for every|in each|of each|in)\b|[.!?]*\s*$)"
_BEHIND = r"(?=,? (?:in|on|per|during|since|last|this) |[,.!?]*\s*$)"

TURNS_OF_FIGURES: tuple[tuple[str, str], ...] = (
    (rf",? {_SHOWN} (?:in|as) (?={_UNIT}\b)", " in "),
    # count and amount of rows, behind them
    (
        rf"^(?:the |our |all )?{_THINGS} ?{_MARK} ?(?:the |with )?{_COUNT_AND}(?={_SUM} {_GROUPED} )",
        r"number of \1 and total ",
    ),
    (
        rf"^(?:the |our |all )?{_THINGS} ?{_MARK} ?(?:the |with )?{_COUNT_AND}(?=price {_GROUPED} )",
        r"number of \1 and ",
    ),
    (
        rf"^(?:the |our |all )?{_THINGS} ({_GROUPED} {_THINGS}) ?{_MARK} ?(?:the )?{_COUNT_AND}({_SUM})[.!?]*\s*$",
        r"number of \1 and total \4 \2",
    ),
    # count and fold of the same rows
    (
        rf"\b(number of|how many) ({_DESCRIBED}s),?(?: and|,) their ({_FOLD}) ({_PLAIN}(?: {_PLAIN})?){_GROUPS_OR_END}",
        r"\1 \2 and \3 \4 of \2",
    ),
    # how many of something each of another has
    (
        rf"\b(?:average|mean) number of {_THINGS} (?:that |which )?{_AN} ([a-z]+) {_HAD}{_BEHIND}",
        r"average number of \1 per \2",
    ),
    (
        rf"\b(?:average|mean) number of {_THINGS} (?:that |which )?{_AN} ([a-z]+) ({_DONE}){_BEHIND}",
        r"average number of \1 \3 per \2",
    ),
    (r"\bhow many ([a-z]+(?: [a-z]+)?) on average (?=per [a-z]+)", r"average number of \1 "),
    # what is said once more in other words
    (r"(?<=[a-z,]) \(?i\. ?e\.,? (?=(?:those|the ones|only those|only the ones) )", " "),
)
"""Pattern → what its matches become."""
