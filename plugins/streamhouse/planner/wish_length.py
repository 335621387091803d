"""How long a wish may be, for every door: the command, the page and agents. Pure."""

from streamhouse.errors import PlanningError

LONGEST_WISH = 2_000
"""Characters. One wish is a sentence or two; a reader tries every way to split a text, and endless ones never end."""


def check_length(wish: str) -> None:
    """Refuse a wish that is too long to be read.

    Raises:
        PlanningError: it is longer than `LONGEST_WISH`.
    """
    if len(wish) > LONGEST_WISH:
        raise PlanningError(
            f"the wish has {len(wish):,} characters, and a wish may have {LONGEST_WISH:,}",
            hint="ask for one result in a sentence or two",
        )
