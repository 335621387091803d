"""Every kind of SQL in templates whose slots say one thing or another: each two fillings are a mutant.

`{a¦b¦c}` is a slot of a line in `fixtures/slotted_queries.sql`; `tests.random_queries` makes what needs a grammar.
"""

import random
import re
from pathlib import Path

from tests.mutants import Mutant

_SLOT = re.compile(r"\{([^{}]*)\}")
_LINES = (Path(__file__).parent / "fixtures" / "slotted_queries.sql").read_text(encoding="utf-8").splitlines()
_TEMPLATES = [line for line in _LINES if line and not line.startswith("--")]


def _filled(template: str, chance: random.Random, changed: dict[int, int] | None = None) -> tuple[str, list[int]]:
    chosen: list[int] = []
    text = template
    while (slot := _SLOT.search(text)) is not None:
        options = slot[1].split("¦")
        at = len(chosen)
        pick = changed[at] % len(options) if changed and at in changed else chance.randrange(len(options))
        chosen.append(pick)
        text = text[: slot.start()] + options[pick] + text[slot.end() :]
    return text, chosen


def slotted(seed: int, number: int) -> list[Mutant]:
    """So many pairs of queries, each of one template; equal seeds give equal pairs."""
    found = []
    for at in range(number):
        template = _TEMPLATES[at % len(_TEMPLATES)]
        chance = random.Random(f"{seed}:{at}")
        first, chosen = _filled(template, chance)
        for _ in range(20):
            changed = dict(enumerate(chosen))
            for place in chance.sample(range(len(chosen)), min(len(chosen), chance.choice((1, 1, 2)))):
                changed[place] = chance.randrange(60)
            second, _ = _filled(template, random.Random(f"{seed}:{at}"), changed)
            if second != first:
                found.append(Mutant((f"template {at % len(_TEMPLATES)}",), first, second))
                break
    return found
