# ruff: noqa: E501 - one pattern a line
"""Turns for figures that stand behind what they are of, and for alerts about a period of each thing. No catalog is asked."""

_END = r"(?=[.!?]*\s*$)"
_PERIOD = r"(day|week|month|quarter|year)"
_AVERAGE = r"(?:the )?(?:average|avg|mean)"
_FIGURE = r"((?:(?!(?:per|by|each|every|for|with|and|which|that|who|top|most)\b)[a-z]+ ){0,3}?(?!(?:per|by|each|every)\b)[a-z]+)"
_WHEN = r"(?:when|whenever|if|as soon as|once)"
_ALERT = rf"^((?:please )?(?:warn|alert|notify|inform|tell|ping) (?:me|us)|let (?:me|us) know) {_WHEN}"
_ONE = r"(?:an?|any|one|some)"
_RISES = r"(?:goes|go|is|are|gets|get|rises|rise|climbs|climb|falls|fall|drops|drop|sinks|sink)"
_SPAN = rf"(?:on|in|within|during) (?:an?|one|any|the same)(?: single)? {_PERIOD}"
_WINDOW = r"(moving|rolling) (average|mean|sum|total)"
_DATE = r"(?:(?:in|of|for|during) )?(?:q[1-4] (?:19|20)\d\d|(?:january|february|march|april|may|june|july|august|september|october|november|december)(?: (?:19|20)\d\d)|(?:19|20)\d\d)"

TURNS_OF_ORDER: tuple[tuple[str, str], ...] = (
    # the figure of each thing behind the things
    (rf"^(?:the |our |all )?([a-z]+s) ({_DATE})[,:]? (?:the |their )?{_FIGURE} (?:of )?each{_END}", r"\3 per \1 \2"),
    (rf"^(?:the |our |all )?([a-z]+s)[,:] (?:the |their )?{_FIGURE} (?:of )?each{_END}", r"\2 per \1"),
    # the fold of a length of time before its groups
    (rf"^((?:the )?(?:time|duration|days|hours|minutes) (?:between|from) [^,.;]+?),? {_AVERAGE} (?=(?:per|by|for each|of each) )", r"average \1 "),
    # a moving figure behind the figure that it is made of
    (rf"^(?:the )?(?:monthly |(number of )){_FIGURE}(?:,| and| with| plus)(?: and)? (?:an? |the |its |their )?(\d+|[a-z]+)[- ](month) {_WINDOW}{_END}", r"\3-\4 \5 \6 of \1\2"),
    (rf"^(?:the )?weekly {_FIGURE}(?:,| and| with| plus)(?: and)? (?:an? |the |its |their )?(\d+|[a-z]+)[- ](week) {_WINDOW}{_END}", r"\2-\3 \4 \5 of \1"),
    (rf"^(?:the )?daily {_FIGURE}(?:,| and| with| plus)(?: and)? (?:an? |the |its |their )?(\d+|[a-z]+)[- ](day) {_WINDOW}{_END}", r"\2-\3 \4 \5 of \1"),
    (rf"^(?:the )?(number of )?{_FIGURE} (?:per|by|each|every) {_PERIOD}(?:,| and| with| plus)(?: and)? (?:an? |the |its |their )?(\d+|[a-z]+)[- ]\3 {_WINDOW}{_END}", r"\4-\3 \5 \6 of \1\2"),
    # who sends the most of something
    (r"\b([a-z]+s) (?:that|which|who) (?:send|sends|sent)(?: to)?(?: us)? the (most|fewest) (?=[a-z])", r"\1 with the \2 "),
    # a figure of each thing, and what each thing does, in one period
    (rf"{_ALERT} the (?!average|total|highest|lowest|number){_FIGURE} (?:of|for|at|in) {_ONE} ([a-z]+) {_RISES} (over|above|under|below) (\S+(?: [a-z]+)?) {_SPAN}{_END}",
     r"\1 if for each \3 and \6 the \2 is \4 \5"),
    (rf"{_ALERT} the number of ([a-z]+(?: [a-z]+)?) (?:of|for|at|in) {_ONE} ([a-z]+) {_RISES} (?:over|above) (\d+) {_SPAN}{_END}",
     r"\1 when a \3 has more than \4 \2 in a \5"),
    (rf"{_ALERT} (?:an?|any) ([a-z]+) (?!has|have|had|is|was|gets|got|does)([a-z]+s|broke|went|came|ran)((?: down| up| out| off| back)?) more than (once|twice|\d+ times) {_SPAN}{_END}",
     r"\1 about \2s that \3\4 more than \5 in a \6"),
)  # fmt: skip
"""Pattern → what its matches become."""
