# ruff: noqa: E501 - one pattern a line
"""Turns of free speech for measuring, totals, groups, alerts, and who is still there. No catalog is asked."""

_AN = r"(?:an?|the|one|our|each|every)"
_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_NO_THAT = r"((?:(?!that\b|which\b)[a-z]+ )?(?!that\b|which\b)[a-z]+)"
_EACH = r"(?:each|every)"
_PERIOD = r"(hour|day|week|month|quarter|year)"
_END = r"(?=[.!?]*\s*$)"
_MOST = r"(highest|largest|biggest|greatest|maximum|lowest|smallest|minimum)"
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_GETS = r"(?:got|gets|had|has|has had|have|received|receives|made|makes|saw|needed|needs)"
_ONE = r"(?:an?|one|any|the same|a single|one single|any one)"
_ARRIVES = r"(?:come in|come|arrive|happen|occur|start|begin|get reported|get raised|take place)"
_HELPS = r"(?:helps?|works?|volunteers?|serves?|teach(?:es)?|plays?|drives?|rides?|rents?|lives?)"
_HERE = r"(?: (?:here|there|with us|for us|at ours))?"
# What is asked for with "how", and the noun that a catalog may have for it.
_MEASURED = {
    r"how much (?:it|he|she|they) (?:weighs?|weighed)": "weight",
    r"how much (?:it|he|she|they) (?:costs?)": "price",
    r"how long (?:it|he|she|they) (?:is|are|was|were)": "length",
    r"how (?:high|tall) (?:it|he|she|they) (?:is|are|was|were)": "height",
    r"how big (?:it|they) (?:is|are|was|were)": "size",
    r"how wide (?:it|they) (?:is|are|was|were)": "width",
    r"how deep (?:it|they) (?:is|are|was|were)": "depth",
    r"how fast (?:it|he|she|they) (?:is|are|was|were)": "speed",
    r"how old (?:it|he|she|they) (?:is|are|was|were)": "age",
}

_AVERAGED = tuple(
    (
        (
            rf"^(?:the )?((?:[a-z]+ )?[a-z]+) (?:per|by|of each|for each|in each) {_PERIOD},? averaged (?:over|across) "
            rf"(?:that|this|the|the same|its own) \2 (?:and|plus|together with) the (?:{word}|{n}) (?:\2s )?before(?: (?:it|that))?{_END}"
        ),
        rf"{n + 1}-\2 moving average of \1",
    )
    for n, word in enumerate(_COUNTED, start=1)
)

TURNS_OF_SPEECH: tuple[tuple[str, str], ...] = (
    # sums over periods that follow each other
    (rf"\b(cumulative|cumulated|accumulated|running total of) ([a-z][a-z ]*?) (?:over|across|by) (?:the |all )?{_PERIOD}s\b",
     r"running total of \2 per \3"),
    (rf"^(?!.*\b(?:averaged?|avg|mean|median|total|sum|added|highest|lowest|most|least|moving|rolling)\b)([a-z][^,.;]*?) over the {_PERIOD}s{_END}",
     r"\1 per \2"),
    # who are taken together
    (rf"^(?!.*\b(?:averaged?|avg|mean|total)\b)([a-z]+(?: [a-z]+)?),? (?:of )?all (?:the |our )?([a-z]+(?: [a-z]+)?) (?:taken |put )?together{_END}",
     r"total \1 of all \2"),
    # abbreviations of titles, whose dot ends no sentence
    (r"\b((?-i:Dr|Mr|Mrs|Ms|Prof|St))\. (?=(?-i:[A-Z]))", r"\1 "),
    # verbs of measuring
    (rf"\b(?:what|how much) (?:does|do|did) {_AN} {_THINGS} weigh on average\b", r"average weight of \1"),
    (rf"\b(?:what|how much) (?:does|do|did) (?!{_AN} )([a-z]+) weigh on average\b", r"average weight of \1"),
    (rf"\bhow (?:long|heavy|old) (?:is|are|was|were) {_AN} {_THINGS} on average\b(?! (?:late|open|away))",
     r"average duration of \1"),
    *((rf"\b{asked}\b(?! (?:to|until|on|than))", noun) for asked, noun in _MEASURED.items()),
    # totals and changes from period to period
    (rf"^(?:the )?([a-z][^.;]*?),? (?:added|summed|adding|totalled) up (?:{_PERIOD} (?:after|by|for) \2|from {_PERIOD} to \3){_END}",
     r"running total of \1 per \2\3"),
    ((rf"^(?:the )?([a-z][^.;]*?),? (?:per {_PERIOD}|{_PERIOD} (?:by|after|for) \3),? and (?:also )?(?:the )?"
     rf"(?:cumulated|cumulative|cumulatively|accumulated|running total|added up|the sum so far|total so far){_END}"),
     r"\1 and running total of \1 per \2\3"),
    ((rf",? (?:and )?by how many (?:percent|%) (?:it|they|this|that) (?:went up or down|changed?|rose or fell|grew or shrank|moved)"
     rf" (?:against|from|compared (?:to|with)|versus|vs\.?|over) the (?:{_PERIOD} before|(?:previous|last|preceding) {_PERIOD}){_END}"),
     r" and percentage change compared to the previous \1\2"),
    *_AVERAGED,
    (rf"\b{_MOST} (number|count) of {_NO_THAT} (?:that |which )?{_ONE}(?: single)? ([a-z]+) {_GETS} (?:in|on|within) {_ONE}(?: single)? {_PERIOD}\b",
     r"\1 \2 of \3 per \4 and \5"),
    (rf"^(?!.*\b(?:per|by|each|every)\b)(.+?),? (?:as )?(?:one|a single|just one|only one) (?:figure|number|total|sum){_END}", r"\1"),
    # shares
    ((r"\b(?:which|what) (?:part|share|portion|proportion|fraction) of (?:all )?(?:the |our )?([a-z]+s) (?:of|in) "
     rf"{_EACH} {_PERIOD} (?:came|come)(?: in)? by (.+?){_END}"),
     r"share of \1 by \3 per \2"),
    ((r"\b(?:which|what) (?:part|share|portion|proportion|fraction) of (?:all )?(?:the |our )?([a-z]+s) (?:of|in) "
     rf"{_EACH} {_PERIOD} ((?:was|were) [a-z]+) (.+?){_END}"),
     r"share of \1 that \3 \4 per \2"),
    (r"\bwhich (?:part|portion|proportion|fraction|share) of (?=(?:the |our |all )?[a-z]+)", "what share of "),
    (r"\b(?:is|are|was|were) left (un[a-z]+)\b", r"is \1"),
    # groups
    (r",? depending on (?:the )?(?=[a-z])", " by "),
    (rf"\b(?:comes?|came|goes|go|went|is sold|are sold|is made|are made|runs?|ran) over {_EACH}\b", "for each"),
    (r"^which ([a-z]+) (?:has|have|had|got|gets|made|makes) how many (?=[a-z])(.+?)" + _END, r"number of \2 per \1"),
    ((rf"^(?:and )?(?:on|in|at) (?:which|what) ((?:[a-z]+ )?(?:weekday|day|hour|month)s?(?: of the (?:day|week|year))?) (?:do|did|does) "
     rf"(?:the |our )?{_THINGS} ({_ARRIVES}),? and how many{_END}"),
     r"number of \2 per \1"),
    ((rf"^(?:and )?(?:on|in|at) (?:which|what) ((?:[a-z]+ )?(?:weekday|day|hour|month)s?(?: of the (?:day|week|year))?) (?:do|did|does) "
     rf"how many {_THINGS} {_ARRIVES}{_END}"),
     r"number of \2 per \1"),
    (rf"^(?!number|count|how)([a-z][^.;]*?), (?:the )?(?:number|count) (?=(?:per|by|for each|of each) [a-z]+(?: of [a-z]+)?{_END})", r"number of \1 "),
    (r"^(?!number|count|how)([a-z][^,.;]*?),? counted (by|per|for each) ", r"number of \1 \2 "),
    # who is there, and what is not
    (rf"^who of (?:the |our |all )?([a-z]+s) still {_HELPS}{_HERE}(?: and)?\b", r"which current \1"),
    (r"^who of (?:the |our |all )?([a-z]+s) ", r"which \1 "),
    (rf"\b([a-z]+s) (?:who|that|which) still {_HELPS}{_HERE} and (?=whose\b)", r"current \1 "),
    (rf"\b([a-z]+s) (who|that|which) still {_HELPS}{_HERE} and ", r"current \1 \2 "),
    (rf"\b([a-z]+s) (?:who|that|which) still {_HELPS}{_HERE}(?=,|[.!?]*\s*$)", r"current \1"),
    (r"\bwithout (?:one|any) of (?:our|the|their) ([a-z]+?)s\b", r"without \1"),
    ((rf"^(?:are there (?:any )?|which (?:are the )?|the )?([a-z]+s) (?:in|on|at) which (?:no|not a single|not one) ([a-z]+) "
     rf"(?:has |have |had )?(?:ever )?(?:lived|stayed|been kept|slept|stood){_END}"),
     r"\1 without \2"),
    # alerts
    (r"\bwarn us\b", "warn me"),
    ((r"^(?:please )?(?:ring (?:the|a) bell|sound (?:the|an) alarm|raise (?:the|an) alarm|send (?:me|us) an? (?:alert|message|warning|mail))"
     r" (?:when|whenever|if|as soon as|once)\b"), "warn me when"),
    ((r"\blet (?:me|us) know (if|when|whenever|as soon as) the (average|total|highest|lowest) ([a-z]+(?: [a-z]+)?) (?:of|in|on|for|at) "
     r"(?:an?|any|one|some) ([a-z]+) (?:goes|is|gets|rises|climbs|falls|drops|sinks) (over|above|under|below|beyond) "
     rf"(\S+(?: [a-z]+)?) (?:on|in|within) (?:any|a|one)(?: single)? {_PERIOD}{_END}"),
     r"warn me if for each \4 and \7 the \2 \3 is \5 \6"),
    ((rf"\b(warn me|let me know|alert me) (when|if) (?:an?|any|one) ([a-z]+) (raises|reports|gets|has|makes|sends|shows|receives) "
     rf"((?:more|fewer|less) than \d+|at least \d+) ([a-z]+) (?:on|in|within) (?:the same|a|one|any)(?: single)? {_PERIOD}\b"),
     r"\1 \2 for each \3 and \7 the number of \6 is \5"),
)  # fmt: skip
