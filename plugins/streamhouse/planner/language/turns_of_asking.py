"""Turns of questions and lists that say the same as a shorter phrase. No catalog is asked."""

_AN = r"(?:an?|the|our|their)"
_THING = r"((?:[a-z]+ )?[a-z]+)"
_BEING = r"(?:is|are|was|were|gets?|got|has been|have been)"
_LAST = r"(most recent|latest|last|first|earliest)"
_DAY = r"(?:the )?(?:date|day|time)s?"
_NAME = r"((?-i:[A-Z][a-z]+))"
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
     r"\2 \3 of each \1"),
    (rf"\b{_DAY} of (?:the|their) {_LAST} ([a-z]+) (?=(?:of|for|per|by) (?:each|every)? ?[a-z])", r"\1 \2 "),
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
    # two figures of one thing
    ((r"^(?:the )?(?:number|count) and (?:the )?(?:total )?(?:value|worth|amount)((?: \([a-z]{3}\))?) of "
     r"(?:the |all |our )?([a-z]+s)\b"), r"number of \2 and total amount\1"),
    (r"^(?:the )?(?:number|count) and (?:the )?([a-z]+)((?: \([a-z]{3}\))?) of (?:the |all |our )?([a-z]+s)\b",
     r"number of \3 and \1\2"),
)  # fmt: skip
