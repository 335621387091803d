"""Turns of English that say the same in more words, put into the words that the grammar reads. No catalog is asked."""

import re
from itertools import pairwise

from streamhouse.planner.language.lazy_patterns import Turn
from streamhouse.planner.language.turns_of_asking import TURNS_OF_ASKING
from streamhouse.planner.language.turns_of_counting import TURNS_OF_COUNTING
from streamhouse.planner.language.turns_of_detours import TURNS_OF_DETOURS
from streamhouse.planner.language.turns_of_everyday import TURNS_OF_EVERYDAY
from streamhouse.planner.language.turns_of_figures import TURNS_OF_FIGURES
from streamhouse.planner.language.turns_of_order import TURNS_OF_ORDER
from streamhouse.planner.language.turns_of_patterns import TURNS_OF_PATTERNS
from streamhouse.planner.language.turns_of_requests import TURNS_OF_REQUESTS
from streamhouse.planner.language.turns_of_sentences import TURNS_OF_SENTENCES
from streamhouse.planner.language.turns_of_shares import TURNS_OF_SHARES
from streamhouse.planner.language.turns_of_shorthand import TURNS_OF_SHORTHAND
from streamhouse.planner.language.turns_of_speech import TURNS_OF_SPEECH
from streamhouse.planner.language.turns_of_talk import TURNS_OF_TALK
from streamhouse.planner.language.turns_of_typing import TURNS_OF_TYPING

_QUOTED = re.compile(r"(\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w))")
_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_EACH = r"(?:each|every)(?: of the| single)?"
_PERIOD = r"(minute|hour|day|week|month|quarter|year)"
_MOST = r"(?:highest|largest|biggest|greatest|most|maximum)"
_LEAST = r"(?:lowest|smallest|least|minimum)"

_OVER = r"(?:over|across|among|between|by)"
_PART = r"(percentage|percent|share|proportion)"
_MAKES = r"(?:account for|make up|have|bring|contribute|represent)"
_HAS = r"(?:have|make|place|take|get|do|contain|include|receive|see|generate|bring)"
_LASTS = r"(?:take|last|run|stay open|go on)"
_MOVES = r"(?:go(?:ne)? up or down|changed?|grown?|increased?|risen?|rise|fall(?:en)?|develop(?:ed)?)"
_NUMBER = (
    r"(\d[\d,.]*k?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty"
    r"|(?:a|one) hundred)"
)
_DATE = r"(\d{4}-\d\d-\d\d|\d{1,2}(?:st|nd|rd|th)? [A-Z][a-z]+,? \d{4}|[A-Z][a-z]+ (?:\d{1,2},? )?\d{4}|(?:19|20)\d\d)"

_MONTH = r"(January|February|March|April|May|June|July|August|September|October|November|December)"
_COUNTED = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_UNIT = r"(?:days|hours|minutes|seconds)"
_SHOWN = r"(?:with|show|add|give|include|plus)(?: me)?"
_FIGURE = r"(?:amounts?|numbers?|sums?|totals?|figures?|counts?)"

_NO_DEED = r"(?:is|are|was|were|be|been|has|have|had|with|for|of|to|by|there|or|and|but|if|than)"

_PERIOD_BY_PERIOD = (r"\b(day|week|month|quarter|year|hour) by \1\b", r"per \1")
_TURNS: tuple[tuple[str, str], ...] = (
    (r"\bstill ([a-z]+) (?:with|for|at|in) us\b", "still with us"),
    # what is said behind the wish
    (r",? too(?=[.!?]*\s*$)", ""),
    (r"^([^,?]+),? how many (?:were|are) (?:it|there|they|these|those)[?.!]*\s*$", r"number of \1"),
    # a name beside the thing that is grouped by
    ((r"\b(?:per|by each|by every|for each|for every) ([a-z]+),? with (?:the|their|its|his|her) names?"
      r"(?: of (?:the|each) \1)?(?=[,.!?]|$)"), r"per \1 and \1 name"),
    # verbs that say no more
    (r"\b(?:has|have|had) to be (?=[a-z]+(?:ed|en)\b)", "were "),
    # abbreviations
    (r"(?:#|\bnos?\.|\bnr\.?|\bnum\.?|\bqty\.?|\bcnt\.?)\s*of\b", "number of"),
    (r"\b(avg|min|max|med)\.(?=\s)", r"\1"),
    (r"\b(?:pct|perc)\.?\s+of\b", "percentage of"),
    (r"\b(\d)\.(\d{1,2})\.(\d{4})\b", r"0\1.\2.\3"),
    (r"\b(\d\d)\.(\d)\.(\d{4})\b", r"\1.0\2.\3"),
    (r"\b(\d\d)\.(\d\d)\.(\d{4})\b", r"\3-\2-\1"),
    (r"\bw/o\b", "without"),
    (r"\bw/(?= )", "with"),
    (r",? \b([a-z]+(?: [a-z]+)?) [x×] ([a-z]+)(?=[.!?]*\s*$)", r" by \1 and \2"),
    (r"\b(?:(?:right|just) now|at the moment|at present|these days|as of (?:now|today)|at this moment)\b", "now"),
    (r"\b(?:because of|due to|owing to|on account of)\b", "for"),
    (r"\b(?:incl\.|inc\.)(?= )", "including"),
    (r"\bwhat part of (?=(?:the |our |all )?[a-z]+)", "what share of "),
    # halves
    (r"\b(?:in|during|for|of) (?:the )?first half of ((?:19|20)\d\d)\b", r"between \1-01-01 and \1-06-30"),
    (r"\b(?:in|during|for|of) (?:the )?(?:second|latter) half of ((?:19|20)\d\d)\b",
     r"between \1-07-01 and \1-12-31"),
    (rf"\b(?:in|during|for|of) (?:the )?first half of {_MONTH},? ((?:19|20)\d\d)\b",
     r"between 1 \1 \2 and 15 \1 \2"),
    # what does not count, behind it
    ((r"(?:,| but| with) (?:the |any |all )?([a-z]+(?:'s)?(?: [a-z]+)?) (?:are |is |were |being |to be )?"
      r"(?:excluded|left out|not counted|not included|ignored|disregarded)(?=,|[.!?]*\s*$)"), r" excluding \1"),
    (r"\b(?:that|which|who) (?:got|have got|has got|received) (?=an? )", "with "),
    ((rf"^([a-z]+(?:[- ][a-z]+)?) as (?:an? |the )?{_PART} of all (?:the )?([a-z]+)"
      r"(?=,? (?:by|per|for each|in) |[.!?]*\s*$)"),
     r"\2 of \3 that are \1"),
    # one of two numbers that follow each other
    *((rf"(?:(?<=\bof )|\b(?=[a-z0-9]+ or [a-z0-9]+ [a-z]+s\b))(?:{one}|{n}) or (?:{two}|{n + 1})\b",
       rf"between {n} and {n + 1}")
      for n, (one, two) in enumerate(pairwise(_COUNTED), start=1)),
    (rf"\b(how long (?:does|did) it take)(?! on average)( to [a-z]+(?: (?:an?|the|one) [a-z]+)?),? (in {_UNIT})\b",
     r"average time\2 \3"),
    ((rf"\b((?:the )?(?:time|duration|delay|length|(?:days|hours|minutes)(?= from| between)) [^,.;]+?),? on average,? "
      rf"(?=(?:per|by|for each) |in {_UNIT}\b|$)"),
     r"average \1 "),
    ((r"^(?:the )?([a-z]+(?: [a-z]+)?(?: of [^,.;]+?)?) ((?:per|for each|of each|for every) [^,.;]+?),? on average"
      r"[.!?]*$"), r"average \1 \2"),
    (r"\b(?:most|highest|largest) ([a-z]+) on average\b", r"highest average \1"),
    (r"\b(?:fewest|lowest|least|smallest) ([a-z]+) on average\b", r"lowest average \1"),
    # what something costs
    (rf"\bwhat (?:does|do|did) (?:an?|the|one|our) {_THINGS} cost on average\b", r"average price of \1"),
    (rf"\bon average,? what (?:does|do|did) (?:an?|the|one|our) {_THINGS} cost\b", r"average price of \1"),
    (rf"\bhow much (?:does|do|did) (?:an?|the|one|our) {_THINGS} cost on average\b", r"average price of \1"),
    (r"\band (?:the |their |its )?total(?= in (?:EUR|USD|GBP|euros?|dollars?|pounds?)\b)", "and total amount"),
    # a ranking shows what it goes by
    ((rf"^(?=.*\b(?:most|top|highest|fewest|least|lowest)\b)(.{{12,}}?)(?:[,.;?!]| and)* {_SHOWN} the {_FIGURE}"
     r"(?:,? (in [a-z]+))?(?: please)?[.!?]*$"), r"\1 \2"),
    (r"\bhow many of (?:our|the|my|these|those|all|all our|all the) (?=[a-z])", "how many "),
    # how many of something each of another has
    (rf"\bon average,? how many ([^,.?]+?) (?:per|each|a|every) {_PERIOD}\b", r"average number of \1 per \2"),
    (rf"\bon average,? how many {_THINGS} (?:do|does|did) (?:an?|each|every|one|the average) ([a-z]+) {_HAS}\b",
     r"average number of \1 per \2"),
    (rf"\bhow many {_THINGS} (?:do|does|did) (?:an?|each|every|one|the average) ([a-z]+) {_HAS} on average\b",
     r"average number of \1 per \2"),
    # prepositions and verbs before a group
    (rf"\b(?:that|which) (?:falls?|fell|goes|go|went) (?:on|to|into|upon) {_EACH}\b", "for each"),
    (rf"\b(?:(?:goes|go|went|comes?|came) )?(?:through|via|by way of|by means of|with|under|falling on) {_EACH}\b",
     "for each"),
    (r"\b(?:falls?|fell|lies|lay) (?:in|into|within|on)\b", "is in"),
    (r"\b(?:comes?|came|coming) with\b", "with"),
    (rf"\b(?!{_NO_DEED} )([a-z]+) nothing\b(?! (?:but|more|less|else|except|other))", r"never \1"),
    (r"\bneither ([^,.;]+?),? nor (?:(?:an?|the|in|from|by) )?", r"not \1 or "),
    (r"\b(that|which|who) (?:stayed|stay|remained?|went|go(?:es)?) (?=un[a-z])", r"\1 are "),
    (r"\b(?:altogether|all told|all in all|taken together)\b", "in total"),
    (r"\bcombined (?=[a-z])", "total "),
    (rf"\b{_PART} of {_EACH} {_THINGS} in (?:the |our |all )?(?:total |overall )?{_THINGS}", r"\1 of total \3 per \2"),
    (r"\bso far\b(?! (?:as|this|in))", ""),
    # one figure by another: "by" groups nothing here
    (r"\b(?:the )?(number of [^,.;]+?) divided by (?:the )?(?=number of )",
     r"ratio of \1 to "),
    # from one period to the next
    (rf"\bfrom (?:one|each) {_PERIOD} to the (?:next|following)(?: one)?\b", r"compared to the previous \1"),
    (rf"\bfrom {_PERIOD} to \1\b", r"compared to the previous \1"),
    # the best row of each thing
    (rf"\b{_EACH} ([a-z]+)'s {_THINGS} with the ({_MOST}|{_LEAST}) {_THINGS}", r"\2 with the \3 \4 of each \1"),
    (rf"\bfor {_EACH} ([a-z]+),? the {_THINGS} with the ({_MOST}|{_LEAST}) {_THINGS}", r"\2 with the \3 \4 of each \1"),
    # figures in other words
    (rf"\bby how (?:many|much) percent (?:did|do|has|have) (?:our |the )?{_THINGS} {_MOVES}\b",
     r"percentage change of \1"),
    (rf"\b(?:what|which) {_PART} of (?:all|the|our) {_THINGS} (?:does|do|did) each {_THINGS} {_MAKES}\b",
     r"\1 of total \2 per \3"),
    (rf"\bhow (?:are|were) (?:our |the )?{_THINGS} (?:distributed|split|spread|divided) {_OVER} (?:the )?",
     r"number of \1 per "),
    (rf"\bdistribution of (?:our |the )?{_THINGS} {_OVER} (?:the )?", r"number of \1 per "),
    (r"\bmore or (?:fewer|less) than (?:in )?(?=the )", "change compared to "),
    (r",? and how many (?=change compared to )", ", "),
    (rf"\bhow long (?:do|does|did) (?:the |our |an? )?{_THINGS} {_LASTS} on average\b", r"average duration of \1"),
    (rf"\bon average,? how long (?:do|does|did) (?:the |our |an? )?{_THINGS} {_LASTS}\b", r"average duration of \1"),
    (r"\b(?:headcount|tally) of\b", "number of"),
    (r",? (?:the |just the |just )?(?:numbers?|counts?)(?: only| please)[.!]?\s*$", ", count"),
    (r"\. Just the (?:numbers|counts)[.!]?\s*$", ", count"),
    (rf"^(.+?) per {_PERIOD},? (?:added|summed) up over time\b", r"running total of \1 per \2"),
    (r"\bof which (?:we|they|people|customers) [a-z]+ the (most|fewest|least)\b", r"with the \1"),
    # bounds behind what they are of: "20 receipts or more"
    (rf"\b{_NUMBER} ([a-z]+(?: [a-z]+)?|%) or (?:more|higher|longer|over|above|greater)\b(?! than)",
     r"at least \1 \2"),
    (rf"\b{_NUMBER} ([a-z]+(?: [a-z]+)?|%) or (?:less|fewer|lower|shorter|under|below)\b(?! than)", r"at most \1 \2"),
    (r"\bwith (\d{1,4}) (?!or\b|and\b|to\b)([a-z]+)\b(?! (?:or|and) (?:more|less|fewer|over|up))",
     r"with exactly \1 \2"),
    (rf"\b(?:(?:on|for|in|from|by) )?{_DATE} or (?:earlier|before)\b", r"on or before \1"),
    (rf"\b(?:(?:on|for|in|from) )?{_DATE} or (?:later|after)\b", r"on or after \1"),
    (r"\b(1[3-9]|2[0-3]) (?:o'clock|o clock)\b", r"\1:00"),
    (r"\b(at|after|before|from|until|till|since|between|to|and) (1[3-9]|2[0-3]) (?:h|hours)\b", r"\1 \2:00"),
    (r"(?<=\d) (?:o'clock )?in the morning\b", " am"),
    (r"(?<=\d) (?:o'clock )?(?:in the (?:afternoon|evening)|at night)\b", " pm"),
    (r"\b(?:at |from )?(\d{1,2}(?::\d\d)? ?[ap]m|\d{1,2}:\d\d|noon|midnight) or (?:later|after)\b", r"after \1"),
    (rf"((?:more|fewer|less) than {_NUMBER} (?:[a-z]+ ){{1,3}}?)(?:on|within|in) (?:one|a single|the same) {_PERIOD}\b",
     r"\1in a \3"),
    (r"(?:,| -|;) (?:the )?number (?=(?:per|by|for each|for every|in each) )", ", count "),
    # alerts
    (r"\blet (me|us) know as soon as\b", r"let \1 know when"),
    (rf"\bflag (?:every|each) ([a-z]+) and {_PERIOD}\b", r"flag if for each \1 and \2"),
    (r"\blet (?:me|us) know which\b", "warn me about"),
)  # fmt: skip
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_DAY_FIRST = re.compile(r"\b(?:1[3-9]|2\d|3[01])/\d{1,2}/\d{4}\b")
_ALL_TURNS = tuple(
    Turn(pattern, said)
    for pattern, said in (
        *TURNS_OF_SENTENCES,
        *TURNS_OF_DETOURS,
        *TURNS_OF_TALK,
        *TURNS_OF_TYPING,
        *TURNS_OF_ORDER,
        *TURNS_OF_SHORTHAND,
        *TURNS_OF_COUNTING,
        _PERIOD_BY_PERIOD,
        *TURNS_OF_EVERYDAY,
        *TURNS_OF_SPEECH,
        *TURNS_OF_REQUESTS,
        *TURNS_OF_ASKING,
        *TURNS_OF_FIGURES,
        *_TURNS,
        *TURNS_OF_SHARES,
        *TURNS_OF_PATTERNS,
    )
)


def rephrased(wish: str) -> str:
    """The wish in the words that the grammar reads; what stands between quotes stays as it is.

    >>> rephrased("# of rides via each channel")
    'number of rides for each channel'
    """
    parts = _QUOTED.split(wish.replace("’", "'"))
    if _DAY_FIRST.search(wish):  # one date that can only begin with the day shows how the others are written
        parts = [_SLASHED.sub(r"\1.\2.\3", part) for part in parts]
    for at in range(0, len(parts), 2):
        parts[at] = _turned(parts[at])
    return "".join(parts)


def _turned(text: str) -> str:
    lower = text.lower()
    for turn in _ALL_TURNS:
        changed = turn.apply(text, lower)
        if changed is not text:
            text, lower = changed, changed.lower()
    return text
