# ruff: noqa: E501 - one pattern a line
"""Turns of everyday English for shares, rankings, running and moving figures, and which rows are meant. No catalog is asked."""

_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_ONE = r"((?:[a-z]+ )?[a-z]+)"
_PART = r"(share|percentage|percent|proportion|fraction)"
_END = r"(?=[.!?]*\s*$)"
_NUMBER = r"(\d+|one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty)"
_PERIOD = r"(day|week|month|quarter|year)"
_MONEY = r"(?:euros?|dollars?|pounds?|eur|usd|gbp)"
_SUM = r"(?:sum|amount|value)"
_EACH = r"(?:each|every)"

TURNS_OF_EVERYDAY: tuple[tuple[str, str], ...] = (
    # number and sum of the rows before it
    (rf"^(?:our |all |the )?((?:[a-z]+ )?([a-z]+s))(?:,|:| -| –) ?(?:the )?(?:number|count) and (?:the )?(?:total )?{_SUM}( in {_MONEY})?{_END}",
     r"\1: number of \2 and total amount\3"),
    (rf"^(?:how many|(?:the )?number of) (un[a-z]+) ([a-z]+s) and (?:their |the )?(?:total )?{_SUM}( in {_MONEY})?{_END}",
     r"\1 \2: number of \2 and total amount\3"),
    # how rows came to be says nothing before a place: "is made through the app"
    (rf"\b(?:what |which )?{_PART} of (?:all |our |the |all our |all the )?((?:(?!is |are |was |were |that |which )[a-z]+ ){{1,2}}?)(?:(?:that |which )?(?:is|are|was|were) )?(?:made|done|placed) (through|via) ",
     r"\1 of \2\3 "),
    # which rows, behind the wish
    (rf"(?:,| -| –|;) ?(?:but )?(?:only|just) (?:the )?([a-z]+) ones{_END}", r", only \1"),
    (rf"(?:,| -| –|;) ?(?:the )?([a-z]+) ones only{_END}", r", only \1"),
    (r",? ?\(?\bi\. ?e\.,? (?=(?:the|only|all|just) )", ", "),
    (r"(?<=\w )(?:where|for which) (?:we|you|they|one) needs? (?=(?:a|an|the) )", "that need "),
    # shares
    (rf"\b(?:the )?{_PART} of {_EACH} {_ONE} (?:among|in|of|out of) all (?:the |our )?{_THINGS}", r"\1 of \3 per \2"),
    # where most are from
    (rf"^(?:from )?(?:which|what) {_ONE} (?:do|did) most (?:of )?(?:our |the )?{_ONE} (?:come|live|originate|arrive|start) ?(?:from|in)?{_END}",
     r"\1 with the most \2"),
    # rankings
    (rf"^(?:the )?{_NUMBER} {_ONE} (?:that (?:are|were|got|get) )?(most|least) (often|frequently) ([a-z]+){_END}", r"which \1 \2 were \5 \3 \4"),
    # running and moving figures
    (rf"\brolling {_NUMBER}[- ]{_PERIOD} average\b", r"\1-\2 moving average"),
    (r"\b(?:with|and) (?:a |the |its )?(?:cumulated|cumulative|accumulated|running) total\b", "and running total"),
    (r"\b(compared (?:to|with) the [a-z]+ before),? difference in (?:number|numbers|count|amount)\b", r"\1"),
    # what is shown beside rows and groups
    (rf"\b(at|in|on|from|of|to) {_EACH} ([a-z]+),? with (?:its|their|the|his|her) names?{_END}", r"per \2 and \2 name"),
)  # fmt: skip
"""Pattern → what its matches become."""
