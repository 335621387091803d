"""Wishes that are no request for data: orders to change things, instructions, forecasts, causes, opinions."""

import re

_WRITES = re.compile(
    r"\b(drop\s+(?:the\s+)?(?:table|database|schema|view|column|all|everything|[a-z]{3}\.)|delete|truncate"
    r"|insert\s+into|update\s+\w+(?:\.\w+)?\s+set|alter\s+table|overwrite|erase|wipe"
    r"|remove\s+(?:all|every|the)\s+(?:rows?|records?|data|\w+s)\s+(?:from|of|in)|grant\s+\w+\s+to|revoke|purge"
    r"|destroy|set\s+all|rename\s+(?:the\s+)?(?:table|column)|add\s+a?\s*(?:row|column|record)|insert|merge\s+into"
    r"|shut\s*down)\b",
    re.IGNORECASE,
)
_DOES = re.compile(
    r"^\W*(?:please,?\s+|(?:can|could|would|will)\s+you\s+(?:please\s+)?|just\s+)?"
    r"(?:(?:write\s+off|cancel|close|reopen|approve|reset|archive|increase|reduce|lower|double|block|unblock|dismiss|refund"
    r"|assign|book|reschedule)\s+(?:all|every|each|the|any|these|those|this|that|my|our)\b(?!\s+(?:rate|ratio|share)\b)"
    r"|(?:mark|change|set)\s+(?:all|every|each|the|any|these|those|this|that)\s[^.]*?\s(?:as|to)\b)",
    re.IGNORECASE,
)
_ORDERS = re.compile(
    r"\b(ignore|disregard|forget|bypass|override)\b[^.]*\b(rules?|instructions?|prompts?|checks?|policy|policies|gate|"
    r"restrictions?|limits?|above|previous|safety)\b|\bsystem prompt\b|\byou are now\b|\bact as\b|\bpretend\b"
    r"|\bjailbreak\b|\b(?:show|reveal|print|send|tell|give)\b.*\b(?:api keys?|passwords?|credentials?|secrets?)\b"
    r"|\bapply (?:it|this|the plan) (?:now|directly|without)|\bwithout (?:asking|approval|review)\b"
    r"|\bas (?:admin|root)\b|\bexecute\b|\brun (?:the )?(?:command|shell|script)\b",
    re.IGNORECASE,
)
_SQL = re.compile(
    r"\bselect\b.+\bfrom\b.+|\bunion\s+(?:all\s+)?select\b|;\s*(?:drop|delete|select|update|insert)\b|[;']\s*--|/\*"
    r"|\bor\s+1\s*=\s*1\b",
    re.IGNORECASE | re.DOTALL,
)
_FORECAST = re.compile(
    r"\b(forecast\w*|predict\w*|expected next|project(?:ed|ion)s? for|will\b.+\bnext (?:week|month|year|quarter)|"
    r"next (?:week|month|year|quarter)'?s?|in the future|estimate the future|likely to|probability that"
    r"|extrapolat\w*)\b",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"^\s*why\b|\bwhy (?:did|do|does|is|are|was|were|have|has)\b|\bexplain why\b|\breasons? why\b|\bwhat caused\b"
    r"|\bimpact of\b|\beffect of\b|\bcorrelat\w*|\bregression\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(should (?:i|we|they)|do you (?:think|like|believe)|what do you recommend|advise|your opinion"
    r"|write (?:me )?(?:a|an) (?:poem|story|email|letter|joke)|tell me a joke"
    r"|summari[sz]e (?:the )?(?:text|news|document))\b"
    r"|^\W*(?:please\s+|(?:can|could|will|would)\s+you\s+(?:please\s+)?)?translate\b"
    r"|\btranslate\s+(?:this|it|that|the\s+following)\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r""""[^"]*"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|(?<!\w)'[^']*'(?!\w)|(?<!\w)‘[^’]*’(?!\w)|`[^`]*`""")


_DESCRIBED = re.compile(
    r"\b(?:(?:that|which|who) (?:is|are|was|were)|(?:has|have|had) been|was|were"
    r"|(?:how many|number of)(?: (?!(?:and|or|then|but|please|also)\b)[a-z]+){1,3}(?: got)?)"
    r"(?: (?:not|never|still|already|now|currently|all|both|once))* shut\s*down\b"
    r"(?!\s+(?:the|all|every|each|any|my|our|your|it|them)\b)",
    re.IGNORECASE,
)
"""What is said of things, and orders nothing: "lifts that are shut down"."""


def unquoted(wish: str) -> str:
    """A wish with an ellipsis in place of each text in quotation marks, which may say anything."""
    return _QUOTED.sub('"…"', wish)


def screened(wish: str) -> str:
    """Why a wish is no request for data that can be planned, naming the words; empty: it may be one.

    Text in quotation marks is a value, and may say anything; the words around it are looked at.
    """
    wish = _DESCRIBED.sub("…", unquoted(wish))
    for pattern, why in (
        (_ORDERS, "'{}' is an instruction; a wish only describes data to read"),
        (_SQL, "'{}' looks like SQL; write the wish in plain words"),
        (_WRITES, "'{}' would change data; a wish only reads"),
        (_DOES, "'{}' would change something; a wish only reads"),
        (_FORECAST, "'{}' asks about the future; only what happened can be planned"),
        (_CAUSE, "'{}' asks for causes; only figures and rows can be planned"),
        (_OPINION, "'{}' asks for an opinion or a text; only figures and rows can be planned"),
    ):
        found = pattern.search(wish)
        if found:
            more = [m.group().strip() for p in (_WRITES,) if p is not pattern for m in [p.search(wish)] if m]
            words = "' and '".join([found.group().strip()[:60], *more])
            return why.format(words)
    return ""
