"""Turns of questions and lists that say the same as a shorter phrase. No catalog is asked."""

_AN = r"(?:an?|the|our|their)"
_THING = r"((?:[a-z]+ )?[a-z]+)"
_BEING = r"(?:is|are|was|were|gets?|got|has been|have been)"
_LAST = r"(most recent|latest|last|first|earliest)"
_DAY = r"(?:the )?(?:date|day|time)s?"
_NAME = r"((?-i:[A-Z][a-z]+))"
_MONEY = r"(euros?|dollars?|pounds?|eur|usd|gbp)"
_RARE = r"(?:average|typical|normal|ordinary|usual)"
_THERE = r"(?: (?:do|did) (?:we|they|you) (?:have|get|see|sell|take|make|handle|serve)| (?:are|were) there)?"
_NO_TIME = (
    r"(?!(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|mon|tue|wed|thu|fri|sat|sun)[a-z]*\b)"
    r"(?!(?:from|between|since|compare|change|changes|up|due|according|related|number)\b)"
)

TURNS_OF_ASKING: tuple[tuple[str, str], ...] = (
    # how long until something is done
    (rf"\b((?:time|days|hours|minutes)(?: it takes)?) (?:until|till|before) {_AN} {_THING} {_BEING} ([a-z]+)\b",
     r"\1 until \3 the \2"),
    ((rf"^(?:and )?how long (?:does|did|do) it (?:usually |normally |typically )?take (?:us |you |them )?to "
     rf"([a-z]+ (?:{_AN} )?)"), r"average time to \1"),
    (r"^(?:and )?how long (?:does|did|do) it (?:usually |normally |typically )?take (?:us |you |them )?from ",
     "average time from "),
    # the last of each
    (rf"^for (?:each|every) ([a-z]+),? {_DAY} of (?:their|the|its|his|her) {_LAST} ([a-z]+)\b",
     r"when was the \2 \3 of each \1"),
    (rf"\b{_DAY} of (?:the|their) {_LAST} ([a-z]+) (?=(?:of|for|per|by) (?:each|every)? ?[a-z])",
     r"when was the \1 \2 "),
    # verbs with more behind them, and verbs that end in "ing"
    (r"\b(left|joined|quit) us\b(?= (?:in|on|before|after|since|between)\b)", r"\1"),
    (r"\b([a-z]+s) (start|begin)n?ing (?=(?:in|on|before|after|since|between) )", r"\1 that \2 "),
    (r"\b([a-z]+s) ending (?=(?:in|on|before|after|since|between) )", r"\1 that end "),
    # marks before a thing
    (r"\b(\d+)[- ]stars? ([a-z]+s)\b", r"\2 with \1 stars"),
    *((rf"\b{word}[- ]stars? ([a-z]+s)\b", rf"\1 with {n} stars")
      for n, word in enumerate(("one", "two", "three", "four", "five"), start=1)),
    # from one value to another before a thing
    (rf"\b{_NO_TIME}{_NAME} (?:to|into|-) {_NO_TIME}{_NAME} (?!(?:or|and|in|on|at|per|by|for)\b)([a-z]+s)\b",
     r"\3 from \1 to \2"),
    # the unit, behind the wish
    (rf"(?:,| -| –) ?{_MONEY}(?: please)?(?=[.!?]*\s*$)", r" in \1"),
    (rf" \({_MONEY}\)(?=[.!?]*\s*$)", r" in \1"),
    # which rows, behind the wish
    (r"(?:,| -|;) ?(?!numbers?\b|counts?\b|totals?\b|names?\b)((?:[a-z]+[ -]){0,2}[a-z]+) only(?=[.!?]*\s*$)",
     r", only \1"),
    # each by itself
    (r"\b(?:for |by )?(?:each|every) ([a-z]+),? separate(?:ly)?\b", r"per \1"),
    (r",? separate(?:ly)? (?:for|by|per) (?:each |every |the |our )?(?=[a-z]+(?: and [a-z]+)?[.!?]*\s*$)", " per "),
    # a length on average
    (r"\b(?:average|mean|avg) number of (days|hours|minutes|seconds) (?=(?:from|between|until|till|before) )",
     r"average \1 "),
    # of all groups
    (r"^(?!total|average|how)((?:[a-z]+ )?[a-z]+) ((?:per|by|for each) [^,.;]+?)(?<! and),? in total(?=[.!?]*\s*$)",
     r"total \1 \2"),
    (r"\bsince ((?:[A-Z][a-z]+ )?(?:19|20)\d\d) or (?:later|after)\b", r"since \1"),
    # on an average day
    *((rf"^(?:and )?(?:how many|(?:the )?number of) ([a-z]+(?: [a-z]+)?){_THERE} (?:on|in) an? {_RARE} {period}\b",
       rf"average {adverb} number of \1")
      for period, adverb in (("day", "daily"), ("week", "weekly"), ("month", "monthly"), ("year", "yearly"))),
    # a question behind the rows
    ((r"(?:,| and|, and) when (?:were|was|are|is|have|had) (?:they|it|he|she|these|those) (?:been )?([a-z]+ed)"
      r"(?=[.?!]*\s*$)"), r", with the \1 date"),
    ((r"(?:,| and|, and) (how|where|why) (was|were|is|are) (it|they|he|she|these|those) (?:been )?([a-z]+)"
      r"(?=[.?!]*\s*$)"), r", \1 \3 \2 \4"),
    (r"(?:,? and) (how|where|why) (it|they|he|she|these|those) (was|were|is|are) (?=[a-z]+[.?!]*\s*$)", r", \1 \2 \3 "),
    # two figures of one thing
    ((r"^(?:the )?(?:number|count) and (?:the )?(?:total )?(?:value|worth|amount)((?: \([a-z]{3}\))?) of "
     r"(?:the |all |our )?([a-z]+s)\b"), r"number of \2 and total amount\1"),
    (r"^(?:the )?(?:number|count) and (?:the )?([a-z]+)((?: \([a-z]{3}\))?) of (?:the |all |our )?([a-z]+s)\b",
     r"number of \3 and \1\2"),
)  # fmt: skip
