# ruff: noqa: E501 - one pattern a line
"""Turns for who is still there, alerts to others, comparisons, shares and orders of showing. No catalog is asked.

A turn that would drop a word with a meaning keeps that word, so that the grammar refuses what it cannot place.
"""

_PERIOD = r"(day|week|month|quarter|year)"
_END = r"(?=[.!?]*\s*$)"
_THINGS = r"((?:[a-z]+[ -]){0,2}[a-z]+)"
_WHEN = r"(?:when|whenever|if|as soon as|once)"
_STILL = (
    r"(?:sail|sell|serve|work|run|operate|use|have|own|live|exist|teach|volunteer|drive|fly|employ|keep|offer"
    r"|serving|working|sailing|flying|active|around|here|in use|in service|employed|with us|there|us)"
)
_HERE = r"(?: (?:for|with|at|by) us| here| today| now)?"
_BEHIND = r"(?=[,.?!;]|\s*$| (?:by|per|in each|for each|and|with|whose|that|which|-) )"
_SPREAD = r"(?:distributed|split|spread|divided|broken down)"
_GROWN = r"(?:grow|grown|change|changed|develop|developed|evolve|evolved|move|moved)"
_MAKES = r"(?:makes? up|accounts? for|brings? in|brings?|has|contributes?|represents?|generates?)"
_TOTAL = r"(?:a |the |their |its )?(?:running|cumulative|cumulated) (?:total|sum|count)"

TURNS_OF_REQUESTS: tuple[tuple[str, str], ...] = (
    # who and what is still there
    (rf"\b(?:(?:that|which|who) )?we still {_STILL}{_HERE}{_BEHIND}", "that are still with us"),
    (rf"\b(that|which|who) (?:(?:are|is) )?still {_STILL}{_HERE}{_BEHIND}", r"\1 are still with us"),
    (rf"\bstill {_STILL}{_HERE}{_BEHIND}", "still with us"),
    (r"[,;.?]* ?\b(?:but )?only (?:people|those|the ones|ones) (?:that|who|which) (?:are|is) still with us\b", " still with us"),
    (r",? (?:without|excluding|except(?: for)?|not counting|leaving out|leave out|ignoring|ignore|omit) (?:those|the ones|people|anyone) (?:who|that) (?:have |has |had )?(?:already )?(?:left|quit)(?: us)?(?=[,.!?]|\s*$| (?:per|by) )",
     " that are still with us"),
    # what comes before a thing that is counted
    (r"\bcount (?:the |all the )?number of\b", "number of"),
    (r"^(?:find|return|give(?: me)?|get|compute|calculate|tell me|show(?: me)?) the (?:count|total number) of\b", "number of"),
    (r"\b(?:the )?total number of (?=[a-z])", "number of "),
    (r"\b(maximum|minimum|average|highest|lowest|mean)(,|,? and) (maximum|minimum|average|highest|lowest|mean) number of ([a-z]+)\b",
     r"\1\2 \3 \4"),
    (r"\b(?:across|over|among|amongst|of) all (?:of )?(?:the |our )?(?=[a-z]+s\b[.?!]*\s*$)", "of all "),
    (r"\b(in|from|to|at|by|with) either (?=[\w'-]+(?: [\w'-]+)? or )", r"\1 "),
    (r"\beither (?=[\w'-]+(?: [\w'-]+)? or )", ""),
    (r"\b(by|in|at|from|on|via|for) ((?:the )?[\w'-]+) or \1 (?:the |an? )?(?=[\w'-])", r"\1 \2 or "),
    # alerts, also those that go to others
    (rf"^(?:please )?(?:page|text|mail|email|message|ring|call) (?:me|us) {_WHEN}\b", "warn me when"),
    (rf"^(?:please )?(?:tell|warn|alert|notify|inform|page|ping) the (?!average|total|highest|lowest)[a-z]+(?: [a-z]+)? {_WHEN}\b", "warn me when"),
    (r"^(?:please )?(?:warn|alert|notify|inform) the [a-z]+(?: [a-z]+)? (?:about|of) (?=(?:every|each|any|all) )", "warn me about "),
    (rf"^((?:warn|alert|notify|let (?:me|us) know)\b.*?) (?:on|in|within) (?:a|one) single {_PERIOD}\b", r"\1 in a \2"),
    # where something begins and ends
    (r"\bwith ((?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)*) as (?:the |their |its )?(?:departure|origin|starting|start) [a-z]+", r"from \1"),
    (r"\bwith ((?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)*) as (?:the |their |its )?(?:destination|arrival|end|target) [a-z]+", r"to \1"),
    # one number for all
    (rf"^(?!.*\b(?:per|by|each|every)\b)(.+?)[.,;?!]+ (?:just )?(?:one|a single) (?:number|figure|total|sum) (?:is enough|is fine|will do|please|suffices){_END}",
     r"\1"),
    # the most of something, with a verb that only says who had it
    (r"\b([a-z]+s) (?:that|which|who) (?:brought|bring|brings|earned|earns|gave|gives|generated|generates|made|had|have|has)(?: in)?(?: us| to us)? the (most|least|highest|lowest|fewest|largest|smallest) ",
     r"\1 with the \2 "),
    # two values side by side
    (rf"^compare (?:the )?([a-z]+) (?:and|with|to|against) (?:the )?([a-z]+) {_THINGS} (per|by|for each) ", r"\3, \1 vs \2 \4 "),
    (r"^([a-z]+(?: [a-z]+)?) (?:in|at|from|by|on|for) ((?-i:[A-Z])[\w'-]*(?: (?-i:[A-Z])[\w'-]*)*) (?:versus|vs\.?|against|compared (?:to|with)) (?:\1|those) (?:in|at|from|by|on|for) ((?-i:[A-Z])[\w'-]*)",
     r"\1, \2 vs \3"),
    # shares
    (rf"^how (?:are|were) (?:our |the )?{_THINGS} {_SPREAD} (?:over|across|among|between|by) (?:the )?{_THINGS},? (?:in|as)(?: an?)? (percent|percentage|share)s?(?: of (?:all|the total|the whole))?{_END}",
     r"percentage of \1 per \2"),
    (rf"\b(share|percentage|proportion) of (?:the )?{_THINGS} that (?:each|every) {_THINGS} {_MAKES}{_END}", r"\1 of \2 per \3"),
    (r"\b(what|which) proportion of (?:the )?([a-z]+) of (each|every) ([a-z]+) (?=(?:is|are|was|were) )", r"\1 share of \2 per \4 "),
    # changes and running totals
    (rf"^how (?:did|has|have|do|does) (?:the )?(.+?) {_GROWN} from {_PERIOD} to \2(?:[.?!;,]+ (?:i need |show |give me )?(?:the )?(?:numbers?|counts?) and (?:the )?(?:differences?|changes?))?{_END}",
     r"\1 per \2 and change compared to the previous \2"),
    (rf"^(?:the )?([a-z][^.,;]*?) (?:per|by|for each|of each) {_PERIOD} ((?:of|in|since|during) [^.,;]+?),? (?:and|plus|with|together with) {_TOTAL}{_END}",
     r"\1 per \2 and running total of \1 per \2 \3"),
    # how often something was
    (r"^([a-z]+(?: [a-z]+)?) (per|by|for each|in each) ([a-z]+)(?:,| -| –| with)? how (?:often|many(?: times)?)[?.!]*$", r"number of \1 \2 \3"),
)  # fmt: skip
