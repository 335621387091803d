"""Tokens of a wish: words, numbers, dates, quoted values, names of tables and symbols, each with its place."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Literal

import snowballstemmer

Kind = Literal["word", "number", "quoted", "date", "clock", "name", "symbol"]

_STEMMER = snowballstemmer.stemmer("english")
_IRREGULAR = {
    "people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse", "feet": "foot",
    "indices": "index", "criteria": "criterion", "staff": "staff", "sold": "sell", "sales": "sale", "bought": "buy",
    "paid": "pay", "payed": "pay", "sent": "send", "spent": "spend", "taken": "take", "took": "take", "made": "make",
    "began": "begin", "begun": "begin", "held": "hold", "lost": "lose", "left": "leave", "came": "come",
    "went": "go", "gone": "go", "given": "give", "gave": "give", "got": "get", "seen": "see", "saw": "see",
    "ran": "run", "written": "write", "wrote": "write", "broken": "break", "broke": "break", "borne": "bear",
    "lent": "lend", "news": "news", "status": "status", "statuses": "status", "analyses": "analysis",
    "data": "data", "media": "media", "series": "series", "species": "species", "days": "day",
    "has": "have", "had": "have",
    "diagnoses": "diagnosis", "theses": "thesis", "crises": "crisis", "hypotheses": "hypothesis",
    "prognoses": "prognosis", "analyzes": "analysis", "halves": "half", "shelves": "shelf", "knives": "knife",
    "is": "be", "are": "be", "was": "be", "were": "be", "been": "be", "does": "do", "did": "do", "done": "do",
    "led": "lead", "taught": "teach", "driven": "drive", "flew": "fly", "flown": "fly",
    "rode": "ride", "ridden": "ride", "won": "win", "met": "meet", "chose": "choose", "chosen": "choose",
    "shown": "show", "grew": "grow", "grown": "grow", "threw": "throw", "thrown": "throw", "told": "tell",
    "ate": "eat", "eaten": "eat", "spoke": "speak", "spoken": "speak", "stole": "steal", "stolen": "steal",
    "caught": "catch", "fell": "fall", "fallen": "fall", "kept": "keep", "slept": "sleep", "built": "build",
    "brought": "bring", "thought": "think", "fed": "feed", "rose": "rise", "risen": "rise", "wore": "wear",
    "buses": "bus", "minibuses": "minibus", "gases": "gas", "lenses": "lens", "viruses": "virus", "bonuses": "bonus",
    "campuses": "campus", "choruses": "chorus", "atlases": "atlas", "canvases": "canvas", "irises": "iris",
    "quizzes": "quiz", "cacti": "cactus", "alumni": "alumnus", "calves": "calf", "wolves": "wolf", "loaves": "loaf",
    "thieves": "thief", "wives": "wife", "scarves": "scarf", "geese": "goose", "teeth": "tooth", "oxen": "ox",
    "heroes": "hero", "potatoes": "potato", "tomatoes": "tomato", "echoes": "echo",
    "metre": "meter", "programme": "program", "catalogue": "catalog", "cheque": "check", "licence": "license",
    "defence": "defense", "offence": "offense", "tyre": "tire", "grey": "gray", "jewellery": "jewelry",
    "burnt": "burn", "spoilt": "spoil", "learnt": "learn", "dreamt": "dream", "leapt": "leap", "spelt": "spell",
    "spilt": "spill", "lit": "light", "shot": "shoot", "swum": "swim", "swam": "swim", "sung": "sing", "sang": "sing",
    "drunk": "drink", "drank": "drink", "worn": "wear", "torn": "tear", "dug": "dig", "fought": "fight",
}  # fmt: skip
_BRITISH = (  # endings that are written otherwise in America; both spellings share a stem
    (re.compile(r"(?<=[a-z]{2})our(?=(?:s|ed|ing|ful|able|ite|ites|hood)?$)"), "or"),
    (re.compile(r"(?<=[a-z]{4})is(?=(?:e|es|ed|er|ers|ing|ation|ations)$)"), "iz"),
    (re.compile(r"(?<=[a-z]{3})ys(?=(?:e|es|ed|ing)$)"), "yz"),
    (re.compile(r"(?<=[a-z][tb])re(?=s?$)"), "er"),
    (re.compile(r"(?<=[aeiou]l)l(?=(?:ed|ing|er|ers|ation|ations)$)"), ""),
)
_ONE_SPELLING = frozenset(
    """hour hours four our ours your yours tour tours toured touring pour pours poured pouring flour detour detours
    hourly sour contour called calling caller callers filled filling billed billing selling seller sellers rolled
    rolling killed pulled pulling falling telling spelling spelled smelled dwelling installed
    installing installer installers
    controlled controlling controller controllers enrolled enrolling calls skilled drilling drilled drill milled polled
    polling stalled walled willing tilled spilled grilled sailed cure acre genre""".split()
)

_PATTERN = re.compile(
    r"""
    (?P<quoted>"[^"]*"|“[^”]*”|‘[^’]*’|`[^`]*`|(?<![A-Za-z0-9])'[^']*'(?![A-Za-z0-9]))
  | (?P<date>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?Z?)
  | (?P<clock>\d{1,2}:\d{2})(?=\D|$)
  | (?P<name>\b(?:ods|dwd|dws|ads)\.[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)
  | (?P<code>(?!(?i:top|bottom|last|next|first|past|best|worst|over|under)-)[A-Za-z]+-?\d+[\w]*(?:-\w*\d\w*)*
    |\d+-\d+(?:-\d+)*|\d{1,3}[A-Za-z]\d\w*)
  | (?P<number>(?:[$€£]\s?)?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)
  | (?P<word>[^\W\d_]+|[$€£])
  | (?P<symbol><=|>=|<>|!=|[^\s\w'"“”‘’`…–—•·])
    """,
    re.VERBOSE,
)
_CONTRACTIONS = (
    (re.compile(r"\bcan't\b|\bcannot\b", re.I), "can not"),
    (re.compile(r"\bwon't\b", re.I), "will not"),
    (re.compile(r"n't\b", re.I), " not"),
    (re.compile(r"\b(i|we|you|they|he|she|it|that|who)'d\b", re.I), r"\1 would"),
    (re.compile(r"\b(i|we|you|they|he|she|it|that|who)'ll\b", re.I), r"\1 will"),
    (re.compile(r"\b(we|you|they|who)'re\b", re.I), r"\1 are"),
    (re.compile(r"\b(i|we|you|they|who)'ve\b", re.I), r"\1 have"),
    (re.compile(r"\blet's\b", re.I), "let us"),
    (re.compile(r"\b(what|who|where|that|it|there)'s\b", re.I), r"\1 is"),
)


@dataclass(frozen=True)
class Token:
    """A piece of a wish.

    Attributes:
        text: As written.
        word: In lower case; of a quoted value, what stands between the quotes, as written.
        stem: What forms of one word share.
        value: Of a number or a date.
        glued: Whether it follows the one before without a blank.
        joined: Whether only "_" or "-" stands between it and the one before.
        possessive: Whether 's or ' follows it.
    """

    text: str
    word: str
    stem: str
    kind: Kind
    start: int
    end: int
    value: Decimal | datetime | date | None = None
    money: str = ""
    glued: bool = False
    possessive: bool = False
    joined: bool = False


def place_behind(words: Collection[str], tokens: Sequence[Token], at: int) -> int:
    """The place of the first token from `at` on that is none of some words; the end where each is one."""
    while at < len(tokens) and tokens[at].word in words:
        at += 1
    return at


def place_before(words: Collection[str], tokens: Sequence[Token], at: int) -> int:
    """The place where the tokens right before `at` begin that are all of some words; `at` where there are none."""
    while at and tokens[at - 1].word in words:
        at -= 1
    return at


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """What the forms of a word share.

    >>> stem("stations") == stem("station")
    True
    """
    lower = word.lower()
    lower = _IRREGULAR.get(lower, lower)
    if not lower.isalpha():
        return lower
    if lower.endswith("s"):  # "programmes" is written as "programme" is
        lower = _IRREGULAR.get(lower[:-1], lower)
    return str(_STEMMER.stemWord(_american(lower)))


def _american(lower: str) -> str:
    """The American spelling of a word in lower case."""
    if lower not in _ONE_SPELLING:
        for ending, american in _BRITISH:
            lower = ending.sub(american, lower)
    return lower


def form(word: str) -> str:
    """The singular of a word, spelled the American way: which form of its stem it is.

    >>> form("harbours") == form("harbor")
    True
    """
    return _american(singular(word))


@lru_cache(maxsize=65536)
def singular(word: str) -> str:
    """The word in lower case, without the ending of a plural.

    >>> singular("Categories"), singular("boxes"), singular("status")
    ('category', 'box', 'status')
    """
    lower = word.lower()
    if lower in _IRREGULAR:
        return _IRREGULAR[lower]
    if len(lower) > 4 and lower.endswith("ies"):
        return lower[:-3] + "y"
    if len(lower) > 4 and lower.endswith(("ches", "shes", "xes", "sses", "zes")):
        return lower[:-2]
    if len(lower) > 3 and lower.endswith("s") and not lower.endswith(("ss", "us", "is")):
        return _IRREGULAR.get(lower[:-1], lower[:-1])
    return lower


def plural(word: str) -> str:
    """The plural of a word.

    >>> plural("category"), plural("ride"), plural("branch")
    ('categories', 'rides', 'branches')
    """
    if singular(word) != word or word.endswith("data"):
        return word
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    if word.endswith(("s", "x", "ch", "sh", "z")):
        return word + "es"
    return word + "s"


def stems(text: str) -> tuple[str, ...]:
    """The stems of a name or a phrase, in order, as `tokenize` gives them for the same words.

    >>> stems("start_station_ids") == stems("start station id")
    True
    """
    return words_of(text)[0]


@lru_cache(maxsize=262144)
def words_of(text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The stems of a name or a phrase, and its words without the endings of plurals."""
    plain = text.replace("_", " ").replace(" ", "")
    if plain.isalpha() and plain.isascii():
        words = text.replace("_", " ").split()
        return tuple(map(stem, words)), tuple(map(form, words))
    tokens = [token for token in tokenize(text) if token.kind != "symbol"]
    return tuple(token.stem for token in tokens), tuple(form(token.word) for token in tokens)


def tokenize(wish: str) -> tuple[Token, ...]:
    """The tokens of a wish, in order; characters that mean nothing are left out.

    >>> [token.word for token in tokenize("Top-5 stores' revenue > $1,000?")]
    ['top', '5', 'stores', 'revenue', '>', '1000', '?']
    """
    text = wish.replace("’", "'") if "‘" not in wish else wish
    if "'" in text or "cannot" in text.lower():
        for pattern, replacement in _CONTRACTIONS:
            text = pattern.sub(replacement, text)
    tokens: list[Token] = []
    end = -1
    for match in _PATTERN.finditer(text):
        kind = str(match.lastgroup)
        raw = match.group()
        if kind == "word" and raw.lower() == "s" and match.start() and text[match.start() - 1] == "'":
            continue
        if kind == "symbol" and raw == "-" and _joins(text, match.start()):
            continue
        token = _token(kind, raw, text, match.start(), match.end(), match.start() == end)
        joined = match.start() == end + 1 and text[end] in "_-"
        tokens.append(replace(token, joined=True) if joined else token)
        end = match.end()
    return tuple(tokens)


def _joins(text: str, at: int) -> bool:
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    return (before.isalnum() and after.isalpha()) or (before.isalpha() and after.isdigit())


def _token(kind: str, raw: str, text: str, start: int, end: int, glued: bool) -> Token:
    if kind == "quoted":
        return Token(raw, raw[1:-1], raw[1:-1].lower(), "quoted", start, end)
    if kind == "date":
        return _date(raw, start, end)
    if kind == "number":
        money = raw[0] if raw[0] in "$€£" else ""
        digits = raw.lstrip("$€£ ").replace(",", "")
        return Token(raw, digits, digits, "number", start, end, Decimal(digits), money, glued)
    if kind == "code":
        return Token(raw, raw.lower(), raw.lower(), "word", start, end, glued=glued)
    if kind == "word":
        possessive = text[end : end + 2].lower() == "'s" or (raw[-1] == "s" and text[end : end + 1] == "'")
        return Token(raw, raw.lower(), stem(raw), "word", start, end, glued=glued, possessive=possessive)
    return Token(raw, raw.lower(), raw.lower(), kind, start, end, glued=glued)  # type: ignore[arg-type]


def _date(raw: str, start: int, end: int) -> Token:
    try:
        if len(raw) == 10:
            value: date | datetime = date.fromisoformat(raw)
        else:
            value = datetime.fromisoformat(raw.rstrip("Z").replace(" ", "T"))
    except ValueError:
        return Token(raw, raw.lower(), raw.lower(), "word", start, end)
    return Token(raw, raw, raw, "date", start, end, value)


def day_after(day: date) -> date:
    """The next day."""
    return day + timedelta(days=1)
