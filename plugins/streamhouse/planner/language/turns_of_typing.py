# ruff: noqa: E501 - one pattern a line
"""Turns for what people type in a hurry, and for verbs that say no more than the noun behind them. No catalog is asked."""

_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_PERIOD = r"(day|week|month|quarter|year)"
_END = r"(?=[.!?]*\s*$)"
_GETS = r"(?:get|receive|have|see|handle|serve|take|make|do|got|had|received)"
_ARRIVES = r"(?:come in|come|arrive|happen|occur|start|begin|take place|get placed|get made)"
_BOUND = r"(?=(?:more|less|over|under|above|below|at least|at most|between|up to|exactly)\b)"

TURNS_OF_TYPING: tuple[tuple[str, str], ...] = (
    # words without their apostrophe, and short ones
    (r"\b(what|who|where|how)s (?=[a-z])", r"\1 is "),
    (r"\b(do|does|did|is|are|was|were|have|has|had|would|could|should|ca|wo)nt\b", r"\1n't"),
    (rf",? (?:pls|plz|please){_END}", ""),
    (r"\b(?:pls|plz)\b", "please"),
    (r"(?<=[a-z)]) p\. ?(?=[a-z]{3,})", " per "),
    # who gets something has it
    (r"\b(who|that|which) (?:get|gets|receive|receives) (?=an? [a-z]+)", r"\1 have "),
    # what is said behind a comma
    (r"^([a-z]+s) ((?:per|by|for each|for every|of each) [a-z]+(?: [a-z]+)?),? (?:and|plus) (how (?:much|many)(?! (?:more|less|fewer)) [^,.;]+?)(?=[.?!]*\s*$)", r"number of \1 and \3 \2"),
    # when something was there for the last time
    (r"^when did (?:each|every) ([a-z]+) (?:place|make|have|take|get|do|give|send|submit) (?:the|its|their|his|her|an?) (last|latest|first|earliest|most recent|newest) ([a-z]+)(?=[.?!]*\s*$)", r"when was the \2 \3 of each \1"),
    # what is shown beside the best
    (rf"^((?:the )?(?:top|bottom) (?:\d+ |[a-z]+ )?[a-z]+ by [^,.;]+?)(?:,? and|,? with|,) (their|its) ([a-z]+(?: [a-z]+)?){_END}", r"\1 with \2 \3"),
    # a change that names no other period
    (rf"^(daily|weekly|monthly|quarterly|yearly) ([a-z]+(?: [a-z]+)?)(?: and| with| plus|,) (?:the |its )?(?:change|growth) in (?:percent|%){_END}", r"\1 \2 and percentage change compared to the previous period"),
    (rf"^([a-z]+(?: [a-z]+)?) (?:per|by|each|every) {_PERIOD}(?: and| with| plus|,) (?:the |its )?(?:change|growth) in (?:percent|%){_END}", r"\1 per \2 and percentage change compared to the previous \2"),
    # two values of one noun, side by side
    (r"\b([a-z]+) ([a-z]+s) (?:vs\.?|versus) ([a-z]+) \2\b", r"\1 vs \3 \2"),
    (r"\b([a-z]+) ([a-z]+s) ((?:per|by) [a-z]+) (?:vs\.?|versus) ([a-z]+) \2\b", r"\1 vs \4 \2 \3"),
    # what is weighed
    (rf"^(?:what|which) ([a-z]+(?: [a-z]+)?) weigh(?:s|ed)? {_BOUND}", r"\1 with a weight of "),
    (rf"\b(?:that |which |who )?weigh(?:s|ed|ing)? {_BOUND}", "with a weight of "),
    # who has the rows says nothing of them
    (rf"\b(number of [a-z]+(?: [a-z]+)?) (?:that )?(?:we|they|you) {_GETS} (?=(?:per|each|every|a|by) )", r"\1 "),
    (r"\b(?:who|that|which) (?:gave|made|took|sent|wrote|received|got|led|did|placed) no (?!(?:more|less|fewer|later|earlier|longer|sooner|one)\b)(?=[a-z]+)", "without "),
    (r"^what (did|do|does|have) (we|they|you) (?=(?:spen[dt]|earn(?:ed)?|invoiced?|billed?)\b)", r"how much \1 \2 "),
    # how long something lasts, and how often something is there
    (rf"^how many (days|hours|minutes) (?:does|do|did) (?:an?|the|our|one) {_THINGS} (?:take|last|need)(?: us)? on average{_END}", r"average duration of \2 in \1"),
    (rf"^on average,? how many (days|hours|minutes) (?:does|do|did) (?:an?|the|our|one) {_THINGS} (?:take|last|need){_END}", r"average duration of \2 in \1"),
    (rf"^((?:please )?(?:warn|alert|notify|inform|ping|let me know|tell me (?:when|if))\b.*?(?:(?:more|fewer|less) than|at least|at most|over) \d+ [a-z]+(?: [a-z]+)?) (?:a|per) {_PERIOD}{_END}", r"\1 in a \2"),
    # something is there in each row
    (r"\b([a-z]+ed|bought|sold|lent|took|made|got) something(?= (?:in|on|at|per|each|every|by|during|since|before|after)\b)", r"\1"),
    # at which time rows are there, and how many
    (rf"^(?:at|on|in) (?:what|which) ((?:[a-z]+ )?(?:weekday|day|hour|month)s?(?: of the (?:day|week|year))?) (?:do|did|does) (?:the |our )?{_THINGS} {_ARRIVES}\? ?(?:the )?(?:number|count)s?(?: (?:per|by|for each|of each) [a-z]+)?{_END}",
     r"number of \2 per \1"),
    # from one period to the next
    (rf"^how (?:did|has|have|do|does) (?:the |our )?(.+?) (?:develop(?:ed)?|change[ds]?|evolved?|grown?|moved?) {_PERIOD}[ -](?:over|on|by|to|after)[ -]\2{_END}",
     r"\1 per \2 and change compared to the previous \2"),
)  # fmt: skip
"""Pattern → what its matches become."""
