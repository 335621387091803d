# ruff: noqa: E501 - one pattern a line
"""Turns for what people put behind a wish in a sentence or a mark of its own: groups, exclusions, comparisons. No catalog is asked."""

_WORD = r"(?!(?:it|they|we|you|us|this|that|them|the|and|of|in|on|at|by|for|to|all|no|not|per|each|every)\b)[a-z]+(?:-[a-z]+)?"
_END = r"(?:,? please)?(?=[.!?]*\s*$)"
_PERIOD = r"(hour|day|week|month|quarter|year)"
_GROUP = r"(?:per|by|for each|for every|in each|of each)"
_UNGROUPED = r"((?:(?!\b(?:per|by|each|every)\b).){8,}?)"
_KIND = rf"{_WORD}(?: of)?(?: {_WORD}){{0,2}}"
_DONE = r"((?!(?:used|limited|wooden|golden)\b)[a-z]{2,}(?:ed|en|aid|old|ent))"
_ADDED = r"(?!(?:[a-z]+ )?(?:prices?|rates?|ages?|ratings?|scores?|stars|speeds?|temperature|pressure|percentage|discounts?|moisture|duration|length|time)\b)"
_NO_PARTS = r"(?!.*\b(?:share|percent|percentage|proportion|ratio|rate|compared?|versus|vs|than|and)\b)"
_NOT_COUNTING = r"(?:excluding|except(?: for)?)"
_NUMBER = r"\d[\d,.]*"
_MONEY = r"(?:euros?|eur|dollars?|usd|pounds?|gbp)"
_DAILY = (("hour", "hourly"), ("day", "daily"), ("week", "weekly"), ("month", "monthly"))
_EXTREME = r"(highest|lowest|largest|smallest|average|mean)"
_SAID = r"(?:what (?:was|is)|show(?: me)?|give me|tell me|then)"

TURNS_OF_SENTENCES: tuple[tuple[str, str], ...] = (
    # groups behind the wish
    (rf"^{_UNGROUPED}[.,;?!]+ (?:just )?(?:one|a|an) (?:single )?(?:figure|number|value|total|row|line) (?:per|for each|for every|by) (?:the )?({_KIND}){_END}", r"\1 per \2"),
    (rf"^{_UNGROUPED}(?:[?!]+ (?:per|by|for each|for every)|\. (?-i:Per|By|For each|For every)) ({_KIND}(?: and {_KIND})?){_END}", r"\1 per \2"),
    (rf",? \b(?!(?:one|side|step|little|bit|day|case) )([a-z]{{3,}}) by \1{_END}", r" per \1"),
    (rf"^{_UNGROUPED}[.?!;,]+ (?:and )?(?:please )?(?:split|break|divide) (?:it |this |that |them |these |the (?:number|figure|total) )?(?:up |down )?(?:by|per|into) (?:the )?({_KIND}){_END}", r"\1 per \2"),
    # an order behind the rows
    (rf", ?(?:the )?(?:oldest|newest|earliest|latest|highest|lowest|largest|smallest|biggest|longest|shortest) ({_WORD}(?: {_WORD})?) first{_END}", r" sorted by \1"),
    # a sum behind what it is of
    (rf"^(?:the )?((?:{_WORD} ){{1,3}}of (?:all (?:the |our )?|the |our )[^,.;?]+?),? (?:added|summed) (?:up|together){_END}", r"total \1"),
    # number and sum of the same rows
    (rf"^(?:the |our |all )?((?:{_WORD} ){{0,3}}?({_WORD}s))(?:,|:| -| –) ?(?:the )?(?:number|count) and (?:the |their )?(?:total )?{_ADDED}({_WORD}(?: {_WORD})?)(?=,? {_GROUP} )", r"\1: number of \2 and total \3"),
    # what does not count, in a sentence of its own
    (rf"[.;] (?:the )?([a-z]+s (?:that|which|who) [^.;]+?) (?:do|does|did|should|must) not count{_END}", r", excluding \1"),
    # rows that do not count, behind those that do
    (rf"^{_NO_PARTS}(.*?\b)({_WORD}s)\b((?:(?!\b\2\b)[^.;])*?),? {_NOT_COUNTING} (?:the |all |any )?{_DONE} \2{_END}", r"\1\2 that were not \4\3"),
    (rf"^{_NO_PARTS}(.*?\b)({_WORD}s)\b((?:(?!\b\2\b)[^.;])*?),? {_NOT_COUNTING} (?:the |all |any )?\2 (?:that|which|who) (?:are|were|have been|had been) {_DONE}{_END}", r"\1\2 that were not \4\3"),
    # how many of what each did
    (rf"^(?:which|what) ({_WORD}(?: {_WORD})?) (?!(?:is|are|was|were|has|have|had|do|does|did|with|can|could)\b)([a-z]+) how many ({_WORD}(?: {_WORD})?)(?= (?:in|on|since|from|between|during|per|by)\b|[.!?]*\s*$)", r"how many \3 did each \1 \2"),
    # what each of some brought in
    (rf"\b(?!(?:how|much|what|many|money)\b)({_WORD}(?: (?!(?:much|many)\b){_WORD})?) (?:that |which )?(?:each|every)(?: of (?:the|our))? ({_WORD}) (?:has |have |had )?(?:brought in|earned|took in|brings in|earns|takes in)\b", r"\1 per \2"),
    # a period that is named twice
    (r"\b(?:so far )?(?:in )?this year(?: so far)?,? (?:\(|in )?((?:19|20)\d\d)\b\)?", r"in \1"),
    # worth is money
    (rf"\bworth (more than|over|above|less than|under|below|at least|at most) (?={_NUMBER} ?{_MONEY}\b)", r"\1 "),
    # against the period before
    (rf"^(?:please )?compare (?:the |our )?(.+?) (?:of|in|for|per) (?:each|every) {_PERIOD} (?:with|to|against) (?:(?:that|those|the one) of )?the (?:\2 before|(?:previous|preceding|last) \2|one before)(?:,? (?:the )?(?:difference|change) (?:as a number|in numbers))?{_END}", r"\1 per \2 and change compared to the previous \2"),
    (rf"^(?:please )?compare (?:the |our )?(.+?),? (?:{_PERIOD} (?:by|after) \2|(?:per|by) {_PERIOD}) (?:with|to|against) (?:(?:that|those|the one) of )?the (?:(?:\2|\3) before|(?:previous|preceding|last) (?:\2|\3)|one before){_END}", r"\1 per \2\3 and change compared to the previous \2\3"),
    # several kinds of one thing
    (rf"^how many of (?:the |our |all |all our |all the )?({_WORD}s?|people) are ({_WORD}(?: {_WORD})?),? and how many (?:of them )?(?:are )?({_WORD}(?: {_WORD})?){_END}", r"number of \1: \2 vs \3"),
    # money that is spent
    (r"\b(in|of) what we (?:spend|spent) on (?=[a-z])", r"\1 spending on "),
    (r"\bin terms of (?=(?:the |their |our )?[a-z]+)", "by "),
    # a number that is put right
    (rf"^([^.?!;]*\b){_NUMBER}((?: ?{_MONEY})?[^.?!;\d]*?)[.,?!;]+ (?:no|sorry|oops|wait|actually)[,.:]* (?:please )?(?:make (?:it|that)|i mean(?:t)?|better|rather) (\d(?:[\d,.]*\d)?)(?: ?{_MONEY})?{_END}", r"\1\3\2"),
    # periods with much money
    (rf"^(months|weeks|days|quarters|years) (?:in which|when|where) we (?:sold|earned|made|took in|turned over) (?:for )?(more|less) than (?={_NUMBER} ?{_MONEY})", r"\1 with a revenue of \2 than "),
    # two steps, one behind the other
    *((rf"^add up (?:the |our |all )?((?:{_WORD} ){{0,2}}({_WORD})) (?:of|for|per|in) (?:each|every) {period}[.,;]+ (?:and )?{_SAID} (?:the )?{_EXTREME} {adjective} (?:\1|\2|total|sum|figure) (?:in|of|for|per) (?:each|every) {_PERIOD}{_END}", rf"\3 {adjective} \1 per \4")
      for period, adjective in _DAILY),
    (rf"^count (?:the |our |all )?({_WORD}(?: {_WORD})?) (?:per|by|for each) ({_WORD}) and {_PERIOD},? (?:and )?then (?:{_SAID} )?(?:the )?(average|mean|highest|lowest) of (?:these|those|the) (?:counts|numbers) (?:per|by|for each|of each|in each) \2{_END}", r"\4 number of \1 per \3 for each \2"),
)  # fmt: skip
"""Pattern → what its matches become."""
