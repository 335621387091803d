"""What people say around a wish and not of its data: greetings, thanks, whom it is for. What is left out is named."""

import re

_WISHES = r"(?:(?:i|we)(?:'d| would) (?:love|like|need|be happy|be glad)|(?:i|we) (?:need|want))"
_SEEING = r"(?:to (?:see|have|know|get|look at)|for)"
_PEOPLE = r"(?:boss|manager|director|colleagues?|team|ceo|cfo|board|chef|client|supervisor)"
_PLACES = (
    r"(?:board|slides?|report|meeting|presentation|newsletter|review|dashboard|budget|boss|manager|management|team)"
)
_WONDERS = (
    r"(?:asks|asked|wonders|is asking|is wondering|wants to know|wanted to know|would like to know|needs to know)"
)
_GREETING = r"(?:hi|hello|hey|good (?:morning|afternoon|evening)|dear (?:all|team|[A-Z][a-z]+))"
_REMARK = r"(?:(?:just |out of )*(?:curious|curiosity|wondering)|(?:quick|one|a) question)"
_BUSY = r"(?:preparing|working on|putting together|writing|making)"
_FINE = r"(?:great|nice|good|lovely|helpful|useful|cool|wonderful)"
_THANKS = r"(?:(?:many )?thanks|thank you|cheers|thx)(?: (?:a lot|so much|very much|in advance|again|a bunch))?"
_END = r"(?=[.!?]*\s*$)"

_BEFORE = (
    rf"^\W*{_GREETING}(?: (?:there|all|team|everyone|folks))?\s*[,!.:-]*\s+",
    r"^(?:ok(?:ay)?|so|well|right|now)[, ]+(?=[a-z])",
    rf"^{_REMARK}\s*[,:.-]+\s*",
    rf"^(?:just )?for (?:the|our|my|tomorrow's|next week's) (?:[a-z]+ )?{_PLACES}\s*[,:]\s*",
    rf"^i(?:'m| am) {_BUSY} [^,.;:]{{3,60}}?(?:,| and)(?: so)? (?=(?:i |we )?(?:would|need|want|like|could)|{_WISHES})",
    (
        rf"^(?:my|our|the) {_PEOPLE} (?:wants|wanted|needs|asked|would like|is asking)(?: me)?"
        r"(?: to (?:know|see|have)| for)? "
    ),
    rf"^(?:the|my|our) (?:[a-z]+ ){{0,2}}[a-z]+ {_WONDERS}(?: me| us)?,? (?=(?:how|what|which|who|when|where) )",
    r"^(?:i|we)(?: am| are|'?m|'?re) (?:looking|searching) for ",
    rf"^(?:just )?for (?:the|our|my|tomorrow's|next week's) (?:[a-z]+ )?{_PLACES} (?={_WISHES} )",
    rf"^(?:{_WISHES}) (?=(?:the|all|our|number|total|average) )",
    rf"^(?:and )?(?:{_WISHES}|would (?:love|like)) {_SEEING} ",
    rf"^it (?:would|'d) be {_FINE} to (?:see|know|have|get),? ",
    rf"^it (?:would|'d) be {_FINE} if (?:you|i|we) could (?:show|see|get|have|give|tell)(?: me| us)? ",
    r"^i was wondering(?: whether| if)? (?:you could (?:show|tell|give) me )?(?=how |what |which )",
)
_BEHIND = (
    rf"[,.;]? ?{_THANKS}{_END}",
    (
        r"[,.;?]+ ?(?:could|can|would) you (?:please )?"
        r"(?:look (?:that|it|this) up|check(?: that| it| this)?|help(?: me)?)"
        r"(?: for (?:me|us))?(?: please)?(?=[.!?])"
    ),
    rf"[,;] (?:in )?(?:two|three|four|[234]) columns(?: please)?{_END}",
    rf"(?<!total)(?<!sum)(?<!count)(?<!amount),? so far{_END}",
    rf"[,;]? if (?:that is|that's|it is|it's) (?:possible|ok|okay|not too much trouble){_END}",
)
_EXAMPLES = (  # behind the group that they are of
    r"(?<=day|our|eek|nth|ear),? \((?:(?:e\.g\.|for example|such as|i\.e\.|like) )?[\w:, -]+?"
    r"(?:,? ?(?:\.\.\.|…|etc\.?|and so on))\)"
)
_WITHIN = (
    _EXAMPLES,
    r"\b(?:really|actually|basically|you know,) (?=[a-z])",
)
_COMPILED = tuple(re.compile(pattern, re.IGNORECASE) for pattern in (*_BEFORE, *_BEHIND, *_WITHIN))
_ROUNDS = 3  # "Hi, my boss wants to know"


def without_courtesies(wish: str) -> tuple[str, tuple[str, ...]]:
    """The wish without what is said around it, and the words that were left out.

    >>> without_courtesies("Hi! How many rides were there? Thanks a lot")
    ('How many rides were there?', ('Hi!', 'Thanks a lot'))
    """
    found: list[str] = []
    for _ in range(_ROUNDS):
        before = wish
        for pattern in _COMPILED:
            found += [match.group().strip(" ,.;") for match in pattern.finditer(wish)]
            wish = pattern.sub("", wish)
        if wish == before:
            break
    return wish.strip(), tuple(filter(None, found))
