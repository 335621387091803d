# ruff: noqa: E501 - one pattern a line
"""Turns for wishes that say the same the long way round: behind marks, in clauses, with "it" for a thing. No catalog is asked."""

_WORD = r"(?!(?:it|they|we|you|us|this|that|them|the|and|of|in|on|at|by|for|to|all|no|not)\b)[a-z]+(?:-[a-z]+)?"
_ITEM = rf"{_WORD}(?: {_WORD}){{0,2}}"
_END = r"(?=[.!?]*\s*$)"
_PERIOD = r"(hour|day|week|month|quarter|year)"
_NUMBER = r"(\d[\d,.]*|one|two|three|four|five|six|seven|eight|nine|ten)"
_GROUP = r"(?:per|by|for each|for every|in each|of each)"
_SUM = r"(?:total|average|mean|median|highest|lowest|maximum|minimum)"
_NO_CHANGE = r"(?!.*\b(?:add|cumul|accumul|sum|total up|chang|gr[eo]w|develop|evol|increas|decreas|r[io]se|fall|fell|differ|compar|up|down|more|less|each|every|per))"
_TOTAL_SO_FAR = r"(?:(?:the|a|its|their) )?(?:running|cumulative|cumulated|accumulated) (?:total|sum)"
_CAUSES = r"(?:cause|produce|generate|use|consume)"

TURNS_OF_DETOURS: tuple[tuple[str, str], ...] = (
    # groups
    (rf"^{_NO_CHANGE}(.+?),? (hour|day|week|month|quarter|year) (?:after|for) \2\b", r"\1 per \2"),
    (rf"\b((?:per|by) {_WORD}),? and (?:from|by|via|through|with|in|at|on|for) (?:which|what) ({_WORD}(?: {_WORD})?){_END}", r"\1 and \2"),
    (rf"\b(by|per|for each) (?:the )?({_WORD}) (?:where|in which|at which|on which) (?:the|our|their|each) ({_WORD}) (?:stands?|is|are|lies|lie|is located|are located|is based)(?=[,.?!]|\s*$)", r"\1 \2 of the \3"),
    # number and sum of the same rows
    (rf"^(?:the )?(?:number|count) and ({_SUM} {_WORD}) of (?:the |our |all )?({_WORD}s)\b", r"number of \2 and \1 of \2"),
    # what is shown, behind a question
    (rf"^(which [^?;]{{8,}})\? (?:i|we) (?:only |just )?(?:need|want|would like)(?: to (?:see|know))? (?:the|their|its) ({_ITEM}), (?:the |their |its )?({_ITEM}),? and (?:how (?:many|much) |the |their |its )?({_ITEM}){_END}", r"\1 with \2, \3 and \4"),
    # which rows, behind a question
    (rf"[?] (?:the )?({_ITEM}) only{_END}", r", only \1"),
    # the same flag on both sides
    (rf"\b(?:under|with|in|within|inside) (?:the |an? )?({_WORD}),? (?:and|versus|vs\.?|or) (?:outside(?: of)?|without|not (?:under|with|in|within)) (?:it|one|that){_END}", r"with \1 and without \1"),
    # rankings by what something costs or has
    (r"\b(?:that|which) costs? (?:us |you |them )?(?:the )?(most|least)(?: money)?\b(?! (?:of|often|on))", r"with the \1 cost"),
    (r"\bwith the most cost\b", "with the highest cost"),
    (r"\bwith the least cost\b", "with the lowest cost"),
    (rf"\b(the )?{_NUMBER} ({_WORD}s) (?:where|in which|from which|at which) we (won|lost|sold|closed|cancelled) (?:the )?(most|fewest) ({_WORD}s){_END}", r"\2 \3 with the \5 \4 \6"),
    # shares
    (rf"\b(?:what|which) (percentage|percent|share|part) of (?:all |the |our )?(?:total |overall |whole )?({_ITEM}) (?:does|do|did) (?:each|every) ({_WORD}(?: of {_WORD})?) {_CAUSES}{_END}", r"\1 of total \2 per \3"),
    # running totals and changes
    (rf"^(?:the )?([a-z][^.,;]*?) (per|by|for each|of each|each|every) {_PERIOD},? (?:plus|with|together with|as well as|along with) {_TOTAL_SO_FAR}{_END}", r"\1 per \3 and running total of \1"),
    (rf",? (?:and|plus|with) (?:by )?how much (?:it|they|this|that) (?:went|goes|go|has gone|have gone|moved) up or down (?:against|from|compared (?:to|with)|versus|vs\.?|over) the (?:{_PERIOD} before|(?:previous|last|preceding) {_PERIOD}){_END}", r" and change compared to the previous \1\2"),
    # what rows need, they have
    (rf"\b(?:that|which|who) (?:needed|need|required|require) (?={_NUMBER} or more|at least|more than|fewer than|less than|no more than)", "with "),
    # alerts
    (r"^(?:please )?(?:warn|alert|notify|tell|inform|message|mail|email) (?:me|us) (?:whenever|once|each time|every time|any time|as soon as)\b", "warn me when"),
    # what the first or last row of each thing says is shown, and is no group
    (rf"\b(latest|last|newest|most recent|earliest|first|oldest) ({_WORD}(?: {_WORD})?) (of|for|per) (each |every )?({_WORD}(?: {_WORD})?),? and (?:its|their|his|her) ({_ITEM}){_END}", r"\1 \2 \3 \4\5 with \6"),
    # of all time
    (rf"^((?:[a-z]+ )*?(?:longest|shortest|biggest|largest|smallest|highest|lowest|heaviest|cheapest|fastest|slowest|most expensive) {_WORD}(?: {_WORD})?) (?:ever|(?:of|in) all times?){_END}", r"\1"),
    # how many days something takes
    (rf"^how many (days|hours|minutes|weeks) (?:does|do|did) (?:an?|the|our|one) ({_ITEM}) (?:take|last|need)(?: us)? on average(?=,? {_GROUP} |[.!?]*\s*$)", r"average duration of \2 in \1"),
)  # fmt: skip
"""Pattern → what its matches become."""
