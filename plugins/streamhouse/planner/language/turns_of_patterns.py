# ruff: noqa: E501 - one pattern a line
"""Turns for totals over periods, shares, alerts, groups and what is left out. No catalog is asked.

A turn that would drop a word with a meaning keeps that word, so that the grammar refuses what it cannot place.
"""

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_PERIOD = r"(day|week|month|quarter|year)"
_EACH = r"(?:each|every)"
_END = r"(?=[.!?]*\s*$)"
_NO_TOTAL = r"(?!.*\b(?:average|avg|mean|median|highest|lowest|most|share|percentage|rate|different|distinct|unique)\b)"
_SUMMED = r"(?:added (?:up|together)|summed(?: up)?|taken together|in total|together)"
_SO_FAR = r"(?:cumulated|accumulated|cumulatively|cumulative|(?:added|summed|totalled) up)"
_TOTAL_SO_FAR = (
    r"(?:(?:the|their|its|a) )?(?:(?:running|cumulative|cumulated|accumulated) (?:total|sum|number|count)"
    r"|(?:total|sum) (?:(?:up )?to|until|till|by) (?:then|date|that (?:day|week|month|quarter|year|point|time|moment))"
    r"|(?:total|sum) so far|(?:total|sum) (?:from|since) the (?:very )?(?:beginning|start))"
)
_BEGIN = r"(?:from the (?:very )?(?:beginning|start)(?: on)?|since the (?:beginning|start)|over time)"
_MOST = r"(highest|largest|biggest|greatest|maximum|lowest|smallest|minimum)"
_PART = r"(percentage|percent|share)"
_LIGHT = r"(?:come in|come|been there|been made|been placed|happened|occurred|taken place|existed)"
_MORE = r"(more|less|fewer|longer|shorter|higher|lower|greater|later|earlier|older|larger|smaller|bigger|faster|slower)"
_MANY = r"(?:more|less|fewer) than \d[\d,.]*|at least \d[\d,.]*|at most \d[\d,.]*"
_BOUND = (
    r"(above|below|over|under|of more than|of less than|of at least|of at most|more than|less than|at least|at most)"
)
_LIMIT = r"(over|above|under|below|beyond)"
_ITEM = r"[a-z]+(?: [a-z]+){0,2}"
_UNIT = r"(?:cm|mm|km|kg|m|t|g|l|minutes|min|hours|h|seconds|days|percent|%|EUR|USD|GBP|kWh|MWh|MB|GB)"

_MOVING = tuple(
    turn
    for n, word in enumerate(_NUMBERS, start=1)
    for turn in (
        (
            (
                rf"^{_NO_TOTAL}(?:for|in) {_EACH} {_PERIOD},? (?:the )?([a-z][^,.;]*?) (?:of|in|for|from) (?:that|the|this) "
                rf"\1 (?:and|plus|together with|as well as) (?:those of |that of |of )?the (?:{word}|{n}) "
                rf"(?:\1s? )?before(?: (?:it|that))?,? {_SUMMED}{_END}"
            ),
            rf"{n + 1}-\1 moving total of \2",
        ),
        (
            (
                rf"^{_NO_TOTAL}(?:the )?([a-z][^,.;]*?) (?:of|in|for) {_EACH} {_PERIOD},? (?:together with|added to|plus|and) "
                rf"(?:(?:those|that|the ones) )?(?:of |in |from )?the (?:{word}|{n}) (?:\2s? )?before"
                rf"(?: (?:it|that))?(?:,? {_SUMMED})?{_END}"
            ),
            rf"{n + 1}-\2 moving total of \1",
        ),
    )
)

TURNS_OF_PATTERNS: tuple[tuple[str, str], ...] = (
    # slips and examples that change nothing
    (rf"\b{_MORE} then (?=\d|a\b|an\b|the\b|one\b|two\b|three\b|five\b|ten\b|average\b)", r"\1 than "),
    (rf"(?<=\w) \(({_UNIT})\){_END}", r" in \1"),
    # totals over periods
    *_MOVING,
    (
        rf"^(?:the )?([a-z][^.;]*?),? (?:per|by|for each|of each) {_PERIOD},? {_SO_FAR},? {_BEGIN}{_END}",
        r"running total of \1 per \2",
    ),
    (
        rf"^(?:the )?([a-z][^.;]*?),? (?:per|by|for each|of each) {_PERIOD},? (?:cumulated|accumulated|cumulatively){_END}",
        r"running total of \1 per \2",
    ),
    (
        (
            rf"^(?:the )?([a-z][^.;]*?),? {_SO_FAR} (?:over|across) the {_PERIOD}s in which (?:the )?[a-z]+s (came in|began|started|ended)"
            rf"{_END}"
        ),
        r"running total of \1 per \2 of \3",
    ),
    (rf"^(?:the )?([a-z][^.;]*?),? {_SO_FAR} (?:over|across) the {_PERIOD}s{_END}", r"running total of \1 per \2"),
    (
        rf"^(?:the )?([a-z][^.,;]*?) (?:per|by|for each|of each) {_PERIOD},? and {_TOTAL_SO_FAR}{_END}",
        r"\1 per \2 and running total of \1",
    ),
    # shares
    (
        (
            rf"^(?:the )?distribution of (?:the |our )?([a-z]+(?: [a-z]+)?),? (?:as|in) (?:an? )?{_PART} of all (?:the )?"
            rf"([a-z]+(?: [a-z]+)?){_END}"
        ),
        r"\2 of \3 per \1",
    ),
    (
        (
            rf"\bwhat {_PART} of (?:all |all the |the |our |all our )?([a-z]+(?: [a-z]+)?) (?:is|are|was|were) {_EACH} "
            rf"(?:of the )?({_ITEM}){_END}"
        ),
        r"\1 of \2 per \3",
    ),
    (
        (
            rf"\bwhat {_PART} of (?:all |all the |the |our |all our )?([a-z]+) ([a-z]+(?:ed|en|old|ought|ent)) "
            rf"(?:in|for|per) {_EACH} {_PERIOD} (?:was|were|is|are) \3 (.+?){_END}"
        ),
        r"\1 of \2 \3 \5 per \4",
    ),
    (
        (
            rf"\bwhat {_PART} of (?:all |all the |the |our |all our )?([a-z]+)(?: of| in| for)? {_EACH} ([a-z]+) "
            rf"(?:was|were|is|are) ([a-z]+(?: [a-z]+)?){_END}"
        ),
        r"\1 of \2 that were \4 per \3",
    ),
    (
        (
            r"\b(?:proportion|share|fraction) of ([a-z0-9]+(?:-[a-z]+)?) ([a-z]+s|feedback) (?:among(?:st)?|out of|of) "
            r"all (?:the )?\2\b"
        ),
        r"share of \1 \2",
    ),
    # groups of groups
    (
        (
            rf"^(?:on|in|during) how many {_PERIOD}s (?:did we (?:count|have|see|get|record|register)|were there|was there|have we had) "
            rf"(?=(?:{_MANY}|over \d|under \d))"
        ),
        r"how many \1s with ",
    ),
    (rf"\bhow many {_PERIOD}s (?:had|have|saw) (?={_MANY}|over \d|under \d)", r"how many \1s with "),
    (
        rf"\b{_MOST} (number|count) of ([a-z]+(?: [a-z]+)?) (?:on|in|within) (?:a|one|any) single {_PERIOD}\b",
        r"\1 \2 of \3 per \4",
    ),
    (
        (
            rf"^(for {_EACH} [a-z]+),? count (?:its|their|the|all|his|her)(?: own)? ([a-z]+(?: [a-z]+)?) (per [a-z]+(?: and [a-z]+)?)"
            rf"(?:,| and)* ?(?:then )(?:give me|show me|show|give|take|tell me) (?:the|its|only the) {_MOST}(?: count| number| one| of (?:them|these|those))?"
            rf"{_END}"
        ),
        r"\1, the \4 number of \2 \3",
    ),
    (
        (
            rf"^of (?:those|the|all) ([a-z]+s|[a-z]+es) (?:that|which|who) (were|was|have|had) ([a-z]+) at all,? how many ([a-z]+s) "
            rf"(?:does|do|did|has|have) (?:one|each) (?:have )?on average{_END}"
        ),
        r"average number of \4 per \1 that \2 \3",
    ),
    (
        (
            r"[;,.]? (?:please )?(?:leave out|skip|ignore|omit|not counting|leaving out) (?:the |all |any |those )?([a-z]+s) "
            rf"(?:without|with no) (?:an? |any )?([a-z]+){_END}"
        ),
        r", only \1 with a \2",
    ),
    # what never was, and what is left out
    (
        r"\b([a-z]+s) (?:that|which|who) (?:nobody|no one|noone) (?:has|have|had)? ?ever ([a-z]+)\b",
        r"\1 that were never \2",
    ),
    (
        (
            rf"^(?:are there (?:any )?|which (?:are the )?|the )?([a-z]+s) (?:on|in|for|at|by|to|from|with) which (?:no|not a single|not one) "
            rf"([a-z]+) (?:has |have |had |was |were )(?:ever |yet )?{_LIGHT}(?: (?:yet|so far))?{_END}"
        ),
        r"\1 without \2",
    ),
    (
        (
            r",? (?:without|except(?: for)?|excluding|excepting|but not|leaving out) the ([a-z]+) "
            rf"(?=(?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)*{_END})"
        ),
        r", not in the \1 ",
    ),
    # alerts
    (
        r"^(?:please )?(?:notify|inform|alert|ping) (?:me|us) (?:of|about|on) (?=(?:every|each|any|all)\b)",
        r"warn me about ",
    ),
    (r"^(?:please )?(?:notify|inform|alert|ping) (?:me|us) (?:when|whenever|if|as soon as|once)\b", r"warn me when"),
    (rf"\b(?:within|in|during) (?:one|a|any|a single|the same|any one) calendar {_PERIOD}\b", r"in a \1"),
    (
        (
            rf"^(?:alarm|alert|warn me|warn us|warning|notify me|tell me)(?: me)? (?:if|when|as soon as) the (average|total|highest) "
            rf"([a-z]+(?: [a-z]+)?) (?:of|in|on|for|at) (?:an?|any|one|some) ([a-z]+) (?:goes|is|gets|rises|climbs|falls|drops) {_LIMIT} "
            rf"(\S+(?: [a-z]+)?) (?:on|in|within) (?:any|a|one)(?: single)? {_PERIOD}{_END}"
        ),
        r"warn me if for each \3 and \6 the \1 \2 is \4 \5",
    ),
    (
        rf"\b(warn (?:me|us)|let (?:me|us) know|alert) (when|if) (an?|any|one) ([a-z]+) ([a-z]+ed) ((?:{_MANY}) times)\b",
        r"\1 \2 \3 \4 has \5 \6",
    ),
    # one group for yes and one for no
    (r",? (?:split|divided|separated|grouped|broken down) by whether (?:or not )?", " by whether "),
    (
        (
            rf"\bby whether (?:or not )?(?:(?:the|an?|our) [a-z]+|they|it) (works? from home|(?:is|was|are|were|has|have|had) (?:an? )?[a-z]+)"
            rf"(?: or not)?{_END}"
        ),
        r"per \1",
    ),
    (rf"\bper (?:is|was|are|were|has|have|had) (?:an? )?([a-z]+){_END}", r"per \1"),
    (
        (
            rf"\b(?:for|of) ([a-z]+) ([a-z]+s) (?:compared (?:with|to)|versus|vs\.?|against) (?:those|the ones|\2) (?:that|which|who) (?:are|were) "
            rf"(?:no|not) \1s?{_END}"
        ),
        r"of \2 per \1",
    ),
    (rf"([a-z0-9)]),? ([a-z]+) and ([a-z]+) (?:separately|apart|each on its own|side by side){_END}", r"\1, \2 vs \3"),
    (r"\bvs\. (?:(?:in|at|from|by|on|over|via|through) )?(?=[a-z])", "vs "),
    (r"\b(?:vs|versus) (?:in|at|from|by|on|over|via|through) (?=[a-z])", "vs "),
    # verbs that only say that rows are there
    (r"^(how many (?:different|distinct|unique) [a-z]+) (?:phoned|rang|telephoned|called) us(?: up)?\b", r"\1 called"),
    # conditions on one row
    (
        (
            rf"\b(?:where|in which|for which) (?:somebody|someone|they|people|one|the (?:caller|customer|client|guest)) (?:had|has|have) to ([a-z]+) "
            rf"(?={_MORE} than |at least |over )"
        ),
        r"with a \1 of ",
    ),
    # two bounds of one value
    (
        rf"\bwith (an?|the) ([a-z]+) {_BOUND} (-?\d[\d,.]*(?: [a-z]+)?),? (?:and|but) {_BOUND} (?=-?\d)",
        r"with \1 \2 \3 \4 and with \1 \2 \5 ",
    ),
    (
        r"\b(with [^.;]*?,) when (?:it|they) ((?:came|come|went|began|started|ended|arrived)(?: in| out| back)?)(?=,| and )",
        r"\1 \2",
    ),
    # what is shown, behind a mark
    (
        rf"^([^-–?]{{8,}}?) [-–] (?:show |give |list )?({_ITEM}(?:, {_ITEM})+(?:,? and {_ITEM})?){_END}",
        r"\1 with \2",
    ),
    (
        rf"^(which [^-–?]{{8,}})\? (?:please )?(?:show|give me|list|with) ((?:[a-z]+ ){{1,3}}?and {_ITEM}|{_ITEM}(?:, {_ITEM})*,? and {_ITEM}){_END}",
        r"\1 with \2",
    ),
    (
        rf"^what(?:'s| is|s) ([a-z]+(?: for [a-z-]+)?)(?: (?:right )?now)?\? ({_ITEM} and {_ITEM}){_END}",
        r"what is \1? \2",
    ),
    (r"\byear (built|made|opened|founded)\b", r"\1 year"),
)
