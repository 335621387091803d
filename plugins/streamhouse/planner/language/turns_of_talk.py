# ruff: noqa: E501 - one pattern a line
"""Turns of plain talk: how long something takes, averages behind what they are of, what things cost. No catalog is asked."""

_THINGS = r"((?!(?:it|they|we|you|this|that)\b)(?:[a-z]+[ -]){0,2}[a-z]+)"
_END = r"(?=[.!?]*\s*$)"
_UNIT = r"in (?:days|hours|minutes|seconds|weeks)"
_BOUND = r"(?=(?:more|less|over|under|above|below|at least|at most|between|up to|exactly)\b)"
_GROUP = r"(?:per|by|for each|for every) [a-z]+(?: (?!in\b)[a-z]+)?"

TURNS_OF_TALK: tuple[tuple[str, str], ...] = (
    (rf"^(?:which|what) ([a-z]+(?: [a-z]+)?) costs? {_BOUND}", r"\1 that cost "),
    (rf"^(?:and )?(?:on average,? )?how long (?:is it |(?:does|did) it (?:usually |normally )?take (?:us )?)?(until|till|before) ([^,.;?]+?)(?:,? on average)?(,? {_GROUP})?(?:,? ({_UNIT}))?{_END}",
     r"average time \1 \2\3 \4"),
    (rf"^((?:the )?(?:days|hours|minutes|time) (?:until|till|before) [^,.;?]+?),? on average(,? {_GROUP})?(?:,? ({_UNIT}))?{_END}",
     r"average \1\2 \3"),
    (rf"^(?:and )?how long (?:do|did) (?:the |our )?{_THINGS} (?:take|last|run)(?: on average)?(,? {_GROUP})(?:,? ({_UNIT}))?{_END}",
     r"average duration of \1\2 \3"),
)  # fmt: skip
"""Pattern → what its matches become."""
