"""Words of English that a wish is built from, by what they do. Data only: no name of any catalog is here."""

from typing import Final

from streamhouse.planner.language.tokens import stem
from streamhouse.planner.request import Grain

VALUE_LIKE: Final = frozenset(
    """single individual specific particular given live streaming stream current currently overall total own private
    view data record entry table report various different single basic regular""".split()
)
"""Of the words that mostly say nothing, those that a column may have as values."""

FILLERS: Final = frozenset(
    """a an the please pls plz me us i we you my our your want wants wanted would like need needs could can may show
    give tell get fetch find display list return compute calculate produce build create make provide report see know
    have look want's let's lets hi hello kindly so then also all every any each some of in for to with and or that which
    who whom there it its their them they this these those be do will shall just simply only what how much many is
    are was were been being has had does did at on from by as table flow view result results output value values
    overview summary breakdown statistics stats data continuously continuous live streaming stream keep track
    monitor column columns row rows record records entry entries dataset respectively both together along
    across within during among amongst into out up against between when where whose if than then while per
    currently now ever actually overall total different various given single one's ok okay thanks thank
    each's per's following corresponding respective own used using use based according plus sorted ordered sort order
    here exact exactly but newly how come ones anything anyone about regarding concerning among via
    through upon altogether""".split()
)
"""Words that may stay unread without changing what is asked, where no rule uses them."""

NEGATIONS: Final = frozenset(
    """not never without neither nor nobody none nothing nowhere except excluding lacking""".split()
)
"""Words that turn what is asked into its opposite: none of them may stay unread."""

QUESTION_WORDS: Final = frozenset({"who", "whom", "whose", "which", "what", "where", "when", "how", "why"})

COMPOUND_HEADS: Final = frozenset({"number", "numbers", "address", "addresses", "name", "names", "code", "codes"})
"""Heads of names of columns: what stands before one is no value."""

STARTERS: Final = frozenset(
    """show give tell get fetch find display list compute calculate produce build create make provide report
    please me us i we you want wants need needs would like could can the a an what is are was were which
    see know let's lets let return determine count""".split()
)

LIGHT_VERBS: Final = frozenset(
    """take make do have happen occur record get give come belong go register exist generate see contain include
    receive perform place carry hold bring log perform produce run capture collect observe attach relate involve
    create start begin concern bring yield last contain hold end up live work stay report submit raise file
    send leave write pass lie fall remain bear""".split()
)
"""Verbs that say no more than that rows are there; in the form that `singular` gives."""

LIGHT_STEMS: Final = frozenset(stem(verb) for verb in LIGHT_VERBS)

AGGREGATES: Final = {
    "total": "sum", "sum": "sum", "summed": "sum", "totals": "sum", "combined": "sum", "cumulated": "sum",
    "average": "avg", "mean": "avg", "avg": "avg", "averaged": "avg", "typical": "avg",
    "minimum": "min", "min": "min", "lowest": "min", "smallest": "min", "least": "min", "minimal": "min",
    "maximum": "max", "max": "max", "highest": "max", "largest": "max", "biggest": "max", "greatest": "max",
    "peak": "max", "maximal": "max", "median": "median", "stddev": "stddev", "lowermost": "min",
}  # fmt: skip

SUPERLATIVES: Final = {
    "highest": (True, ""), "largest": (True, ""), "biggest": (True, ""), "greatest": (True, ""), "top": (True, ""),
    "most": (True, ""), "best": (True, ""), "lowest": (False, ""), "smallest": (False, ""), "least": (False, ""),
    "fewest": (False, ""), "worst": (False, ""), "bottom": (False, ""), "longest": (True, "long"),
    "shortest": (False, "long"), "cheapest": (False, "price"), "priciest": (True, "price"),
    "costliest": (True, "price"), "oldest": (True, "age"), "youngest": (False, "age"), "heaviest": (True, "weight"),
    "lightest": (False, "weight"), "fastest": (True, "fast"), "slowest": (False, "fast"), "hottest": (True, "heat"),
    "coldest": (False, "heat"), "warmest": (True, "heat"), "busiest": (True, "rows"), "quietest": (False, "rows"),
    "newest": (True, "time"), "farthest": (True, "far"), "furthest": (True, "far"),
}  # fmt: skip
"""Word → whether the highest number comes first, and a hint on which number (a key of `HINTS`)."""

EXTREMES: Final = {
    "longest": "max", "shortest": "min", "heaviest": "max", "lightest": "min", "oldest": "min", "newest": "max",
    "earliest": "min", "latest": "max", "strongest": "max", "weakest": "min", "hottest": "max", "warmest": "max",
    "coldest": "min", "tallest": "max", "deepest": "max", "widest": "max", "farthest": "max", "furthest": "max",
    "fewest": "min", "steepest": "max", "priciest": "max", "cheapest": "min", "costliest": "max", "slowest": "max",
    "fastest": "min", "quickest": "min", "loudest": "max", "dearest": "max",
}  # fmt: skip
"""Superlative before a number or a time → which end of it; of speed, "slowest" and "fastest" are the other ends."""

HINTS: Final = {
    "long": (("time", "length"), ("duration", "length", "distance", "minutes", "time", "pages")),
    "price": (("money",), ("price", "cost", "fare", "fee", "rate", "amount")),
    "age": ((), ("age",)),
    "weight": (("mass",), ("weight", "mass")),
    "heat": (("temperature",), ("temperature",)),
    "far": (("length",), ("distance",)),
    "fast": ((), ("speed",)),
}
"""Hint → what its unit measures, and words in the names of the columns that it means."""

COMPARATIVES: Final = {
    "more": (">", ""), "greater": (">", ""), "higher": (">", ""), "larger": (">", ""), "bigger": (">", ""),
    "less": ("<", ""), "fewer": ("<", ""), "lower": ("<", ""), "smaller": ("<", ""), "longer": (">", "long"),
    "shorter": ("<", "long"), "cheaper": ("<", "price"), "pricier": (">", "price"), "older": (">", "age"),
    "younger": ("<", "age"), "heavier": (">", "weight"), "lighter": ("<", "weight"), "hotter": (">", "heat"),
    "warmer": (">", "heat"), "colder": ("<", "heat"), "cooler": ("<", "heat"), "farther": (">", "far"),
    "further": (">", "far"), "faster": (">", "fast"), "slower": ("<", "fast"), "costlier": (">", "price"),
}  # fmt: skip
"""Comparative before "than" → operator and hint."""

OPERATORS: Final = (
    ("greater than or equal to", ">="), ("more than or equal to", ">="), ("less than or equal to", "<="),
    ("no more than", "<="), ("not more than", "<="), ("no less than", ">="), ("not less than", ">="),
    ("no fewer than", ">="), ("not fewer than", ">="), ("at least", ">="), ("at most", "<="), ("up to", "<="),
    ("no longer than", "<="), ("not longer than", "<="), ("not over", "<="), ("not above", "<="),
    ("not under", ">="), ("not below", ">="), ("no shorter than", ">="), ("not exceeding", "<="),
    ("a minimum of", ">="), ("a maximum of", "<="), ("minimum", ">="), ("maximum", "<="),
    ("over", ">"), ("above", ">"), ("exceeding", ">"), ("exceeds", ">"), ("exceed", ">"), ("exceeded", ">"),
    ("beyond", ">"), ("in excess of", ">"), ("under", "<"), ("below", "<"), ("beneath", "<"),
    ("equal to", "="), ("equals", "="), ("equalling", "="), ("exactly", "="), ("precisely", "="),
    ("drops below", "<"), ("falls below", "<"), ("drop below", "<"), ("fall below", "<"), ("goes above", ">"),
    ("rises above", ">"), ("goes over", ">"), ("goes below", "<"), ("goes under", "<"), ("rises over", ">"),
    ("does not exceed", "<="), ("do not exceed", "<="), ("not equal to", "<>"), ("different from", "<>"),
    ("other than", "<>"), ("climbs above", ">"), ("reaches", ">="), ("reached", ">="), ("reach", ">="),
    ("surpasses", ">"), ("is over", ">"), ("drops under", "<"), ("falls under", "<"), ("gets above", ">"),
    (">=", ">="), ("<=", "<="), ("<>", "<>"), ("!=", "<>"), (">", ">"), ("<", "<"), ("=", "="),
    ("worth more than", ">"), ("worth over", ">"), ("worth at least", ">="), ("worth less than", "<"),
)  # fmt: skip
"""Phrase before a number → operator; longer ones are tried first."""

COMPARISONS: Final[dict[tuple[str, ...], str]] = {
    **{tuple(said.split()): operator for said, operator in sorted(OPERATORS, key=lambda pair: -len(pair[0]))},
    **{(word, "than"): operator for word, (operator, _) in COMPARATIVES.items()},
}
"""The words of each phrase before a number, and "more than", "older than" → operator; longer ones are tried first."""

ARTICLES: Final = frozenset({"a", "an", "the", "our", "their", "its"})
"""Words before a noun that do not change which rows it means."""

DOING: Final = frozenset({"did", "do", "does"})
"""Words that ask what was or is done: "how many tickets did we sell"."""

COUNTING: Final = (("how", "many"), ("number", "of"), ("count", "of"))
"""Words before what is counted."""

ARTICLES_OF_ALL: Final = ARTICLES | {"all", "both", "any"}
"""Words before things, or what is shown of them, where no part of them is meant."""

AFTER_NUMBER: Final = (
    ("or upwards", ">="), ("and less", "<="), ("upwards", ">="),
    ("minimum", ">="), ("maximum", "<="),
    ("or more", ">="), ("or higher", ">="), ("or above", ">="), ("or longer", ">="), ("and more", ">="),
    ("or greater", ">="), ("or over", ">="), ("and above", ">="), ("or older", ">="), ("and up", ">="),
    ("and over", ">="), ("or less", "<="), ("or fewer", "<="), ("or lower", "<="), ("or below", "<="),
    ("or shorter", "<="), ("or under", "<="), ("and below", "<="), ("or younger", "<="),
)  # fmt: skip

NEGATED: Final = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "=": "<>", "<>": "=", "in": "not in", "not in": "in"}

GROUPERS: Final = (
    "broken down by", "broken down per", "broken out by", "grouped by", "group by", "split by", "split up by",
    "segmented by", "for each", "for every", "in each", "in every", "at each", "on each", "under each",
    "with each", "via each", "through each", "at every", "of each",
    "of every", "by each", "per each", "per", "by", "each", "every", "across", "within each", "from each",
    "to each", "on every",
)  # fmt: skip

GRAINS: Final = {
    "minute": Grain.MINUTE, "minutes": Grain.MINUTE, "minutely": Grain.MINUTE, "hour": Grain.HOUR,
    "hours": Grain.HOUR, "hourly": Grain.HOUR, "day": Grain.DAY, "days": Grain.DAY, "daily": Grain.DAY,
    "date": Grain.DAY, "dates": Grain.DAY, "week": Grain.WEEK, "weeks": Grain.WEEK, "weekly": Grain.WEEK,
    "month": Grain.MONTH, "months": Grain.MONTH, "monthly": Grain.MONTH, "quarter": Grain.QUARTER,
    "quarters": Grain.QUARTER, "quarterly": Grain.QUARTER, "year": Grain.YEAR, "years": Grain.YEAR,
    "yearly": Grain.YEAR, "annual": Grain.YEAR, "annually": Grain.YEAR, "weekday": Grain.DAY_OF_WEEK,
    "weekdays": Grain.DAY_OF_WEEK,
}  # fmt: skip
ADVERB_GRAINS: Final = frozenset({"minutely", "hourly", "daily", "weekly", "monthly", "quarterly", "yearly", "annual",
                                  "annually"})  # fmt: skip
GRAIN_PHRASES: Final = {
    ("hour", "of", "day"): Grain.HOUR_OF_DAY, ("hour", "of", "the", "day"): Grain.HOUR_OF_DAY,
    ("day", "of", "week"): Grain.DAY_OF_WEEK, ("day", "of", "the", "week"): Grain.DAY_OF_WEEK,
    ("day", "of", "month"): Grain.DAY_OF_MONTH, ("day", "of", "the", "month"): Grain.DAY_OF_MONTH,
    ("month", "of", "year"): Grain.MONTH_OF_YEAR, ("month", "of", "the", "year"): Grain.MONTH_OF_YEAR,
    ("calendar", "month"): Grain.MONTH, ("calendar", "week"): Grain.WEEK, ("calendar", "day"): Grain.DAY,
    ("calendar", "year"): Grain.YEAR, ("time", "of", "day"): Grain.HOUR_OF_DAY,
}  # fmt: skip

MONTHS: Final = {
    name: at
    for at, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct", "november nov", "december dec"), start=1)
    for name in names.split()
}  # fmt: skip
WEEKDAYS: Final = {
    name: at
    for at, names in enumerate(
        ("monday mondays mon", "tuesday tuesdays tue tues", "wednesday wednesdays wed", "thursday thursdays thu thurs",
         "friday fridays fri", "saturday saturdays sat", "sunday sundays sun"), start=1)
    for name in names.split()
}  # fmt: skip
PARTS_OF_DAY: Final = {
    "morning": (6, 12), "mornings": (6, 12), "afternoon": (12, 18), "afternoons": (12, 18), "evening": (18, 22),
    "evenings": (18, 22), "night": (22, 6), "nights": (22, 6),
}  # fmt: skip

WITHOUT: Final = ("without any", "without a single", "without a", "without an", "without", "with no", "lacking any",
                  "lacking", "missing any", "missing a", "missing an", "missing", "have no", "has no", "had no",
                  "having no", "with zero", "that lack", "do not have any", "does not have any", "did not have any",
                  "do not have a", "does not have a", "do not have an", "does not have an", "have not had any",
                  "has not had any", "do not have", "does not have", "did not have", "have never had a",
                  "have never had any", "with not a single", "have zero", "has zero", "have never had",
                  "has never had", "did no", "made no", "took no", "placed no", "but no", "and no")  # fmt: skip
EXCEPT: Final = ("except for", "except", "excluding", "other than", "apart from", "but not", "leaving out",
                 "not counting", "ignoring", "not including", "outside of", "outside", "exclude", "leave out",
                 "and not", "ignore", "without counting")  # fmt: skip

DIRECTIONS: Final = {
    "start": "start", "starting": "start", "started": "start", "starts": "start", "from": "start", "origin": "start",
    "originating": "start", "pickup": "start", "departure": "start", "departing": "start", "departed": "start",
    "source": "start", "begin": "start", "beginning": "start", "began": "start", "sender": "start",
    "leaving": "start", "left": "start", "sending": "start",
    "end": "end", "ending": "end", "ended": "end", "ends": "end", "to": "end", "destination": "end",
    "arrival": "end", "arriving": "end", "arrived": "end", "dropoff": "end", "target": "end", "into": "end",
    "finish": "end", "finished": "end", "finishing": "end", "receiver": "end", "recipient": "end",
    "receiving": "end", "dest": "end", "sent": "start", "received": "end",
}  # fmt: skip
"""Words for one of two columns that point to the same table."""

ADDITIVE: Final = frozenset(
    """amount quantity revenue sale cost spend spent total turnover consumption energy unit units sold income fee
    discount payment charge expense expenses volume usage produced production count qty earnings price-total
    paid subtotal km kilometer kilometre litre liter distance mileage bytes clicks views impressions""".split()
)
"""Words in names of numbers that people add up when they name no aggregate."""

NOT_ADDITIVE: Final = frozenset({"temperature", "fraction", "pressure", "voltage"})
"""What units measure that no sum has."""

SHARES: Final = ("share", "percentage", "proportion", "fraction", "percent", "portion", "pct")
RATES: Final = ("rate", "ratio", "quota")

ROLE_WORDS: Final = frozenset({"id", "key", "code", "no", "number", "nr", "num", "uuid", "identifier", "ref"})
"""Endings of names of keys: `station_id` is called "station"."""
TIME_ENDINGS: Final = frozenset({"at", "on", "ts", "time", "date", "timestamp", "datetime"})
BOOLEAN_BEGINNINGS: Final = frozenset({"is", "has", "was", "had", "did"})

SOFT_SYNONYMS: Final = (
    ("customer", "client"), ("customer", "shopper"), ("customer", "buyer"), ("ride", "trip"), ("ride", "journey"),
    ("employee", "staff"), ("employee", "worker"), ("product", "item"), ("product", "article"), ("price", "cost"),
    ("revenue", "turnover"), ("revenue", "sale"), ("revenue", "income"), ("store", "shop"), ("store", "outlet"),
    ("member", "subscriber"), ("customer", "member"), ("guest", "member"), ("client", "member"), ("order",
    "purchase"), ("appointment", "visit"), ("ticket", "issue"),
    ("ticket", "case"), ("agent", "assignee"), ("doctor", "physician"), ("country", "nation"), ("town", "city"),
    ("guest", "visitor"), ("machine", "equipment"), ("machine", "device"), ("loan", "checkout"), ("loan", "borrow"),
    ("reading", "measurement"), ("book", "title"), ("sell", "sale"), ("buy", "purchase"),
    ("pay", "payment"), ("rent", "rental"), ("stay", "booking"), ("reservation", "booking"), ("user", "account"),
    ("amount", "sum"), ("kind", "type"), ("category", "type"), ("state", "status"), ("quantity", "unit"),
    ("household", "family"), ("vehicle", "car"), ("bike", "bicycle"), ("patient", "case"), ("spend", "expense"),
    ("location", "place"), ("location", "site"), ("department", "division"), ("begin", "start"),
    ("end", "finish"), ("failure", "fault"), ("error", "failure"), ("spend", "cost"), ("spend", "revenue"),
    ("spend", "amount"),
    ("sell", "order"), ("signup", "registration"), ("earn", "revenue"), ("cancellation", "cancel"), ("solve",
    "resolve"),
    ("solve", "close"), ("resolve", "close"), ("finish", "complete"), ("born", "birth"),
)  # fmt: skip
"""Pairs of words that often stand for one another; used only where the catalog has no word of its own."""

STATES: Final = {
    "open": ("close", "resolve", "solve", "finish", "complete", "end", "pay", "return", "done"),
    "outstanding": ("pay", "settle", "return", "close"), "pending": ("complete", "finish", "process", "done", "close"),
    "unfinished": ("finish", "complete", "end", "done"),
    "unresolved": ("resolve", "solve", "close"), "running": ("end", "finish", "complete", "done"),
    "ongoing": ("end", "finish", "complete", "close", "restore"), "active": ("end", "cancel", "leave"),
    "current": ("end", "close", "cancel", "leave", "left", "quit", "retire", "expire", "terminate", "resign", "stop"),
}  # fmt: skip
"""State of something that goes on → stems of what a time column says that is empty while it does."""

NOW: Final = frozenset({"now", "currently", "presently", "nowadays"})
"""Words that ask for what is so at present."""

PARTICIPLES: Final = frozenset(
    """paid sold sent lost taken given made begun gone written broken borne lent bought spent left won built shut cut
    born put set read seen held kept known grown shown thrown returned wrote took gave made led taught driven
    flew flown rode ridden won met chosen chose brought stolen caught fed quit ready""".split()
)
"""Past participles that do not end in "ed"."""

IRREGULAR_VERBS: Final = {
    "give": ("gave", "given"), "take": ("took", "taken"), "make": ("made", "made"), "write": ("wrote", "written"),
    "send": ("sent", "sent"), "hold": ("held", "held"), "bring": ("brought", "brought"), "begin": ("began", "begun"),
    "leave": ("left", "left"), "run": ("ran", "run"), "come": ("came", "come"), "go": ("went", "gone"),
    "get": ("got", "got"), "drive": ("drove", "driven"), "ride": ("rode", "ridden"), "fly": ("flew", "flown"),
    "sell": ("sold", "sold"), "buy": ("bought", "bought"), "burn": ("burnt", "burnt"),
}  # fmt: skip
"""Verb → its past and its past participle."""

VERB_FORMS: Final = {
    verb: IRREGULAR_VERBS[verb] for verb in "give take make write send hold bring begin leave run come go get".split()
}
"""Verb without much meaning → its irregular forms in the past."""

VERB_NOUNS: Final = {
    "sell": ("sale", "order"), "buy": ("purchase", "sale", "order"), "purchas": ("purchase", "sale"),
    "pay": ("payment",), "rent": ("rental", "ride"), "borrow": ("loan", "checkout"), "hire": ("hire", "rental", "ride"),
    "ride": ("ride", "trip"), "order": ("order",), "book": ("booking", "reservation"), "visit": ("visit",),
    "view": ("view", "page view"), "rate": ("rating",), "review": ("review",), "call": ("call",),
    "repair": ("repair",), "servic": ("service", "maintenance"), "stay": ("stay", "booking"),
    "deliv": ("delivery",), "shop": ("purchase", "sale", "basket"), "diagnos": ("diagnosis",),
    "prescrib": ("prescription",), "invoic": ("invoice",), "return": ("return",), "measur": ("measurement", "reading"),
    "read": ("reading",), "log": ("login", "session"), "click": ("click",),
}  # fmt: skip
"""Stem of a verb → nouns of what is there when it was done."""

COMMON: Final = frozenset(
    """still already again always often usually rarely seldom sometimes almost nearly roughly apart aside below above
    today tomorrow yesterday early late later soon since until unless although though because whether either neither
    while whilst beside besides despite except instead rather quite really fairly hardly mostly mainly partly fully
    entirely wholly twice thrice double triple alone alike across along around behind beyond inside outside near
    nearby closer towards onto throughout underneath first second third fourth fifth sixth seventh eighth ninth tenth
    three seven eight eleven twelve thirteen fifteen twenty thirty forty fifty sixty seventy eighty ninety hundred
    thousand million dozen half quarter third less more most least fewer fewest other others another same equal
    equally unlike similar bigger smaller larger greater higher lower longer shorter older newer younger cheaper
    dearer faster slower heavier lighter earlier sooner best worst better worse good great poor rich high short tall
    large small little young fast slow quick cheap heavy light empty full whole entire complete missing absent present
    share shares parts piece pieces group groups bunch pair pairs couple drop drops dropped rise rises rising rose
    raised fell fallen falls grow grows grew grown shrink shrank gain gains lose loses spend spends spent earn earns
    bring brings brought think guess hope means meant happen happens stand stands stood stop stops stopped start starts
    leave leaves left stays stayed keep keeps kept turn turns turned look looks looking care cause causes caused
    place places point points line lines side sides state case cases thing things people person persons someone
    somebody everybody everyone nobody noone none stuff matter world house water money price prices worth value
    believe wonder curious please quickly directly straight""".split()
)
"""Ordinary English words of five letters or more, none of which is a slip of another word."""


def is_past_form(word: str) -> bool:
    """Whether a word is a past participle by its form.

    Example:
        >>> is_past_form("sold"), is_past_form("opened"), is_past_form("sale")
        (True, True, False)
    """
    return word.endswith("ed") or word in PARTICIPLES


def past_participle(verb: str) -> str:
    """The past participle of a verb.

    Example:
        >>> past_participle("drive"), past_participle("use"), past_participle("open")
        ('driven', 'used', 'opened')
    """
    if verb in IRREGULAR_VERBS:
        return IRREGULAR_VERBS[verb][1]
    return f"{verb}d" if verb.endswith("e") else f"{verb}ed"
