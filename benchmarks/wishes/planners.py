"""The planners that are scored, behind one call: a wish and a catalog become an Answer."""

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from streamhouse.sql.dialect import render

from .answers import Answer

if TYPE_CHECKING:
    from streamhouse.planner.catalog import Catalog
    from streamhouse.planner.request import Understood

Planner = Callable[[str, "Catalog"], Answer]


def offline(wish: str, catalog: "Catalog") -> Answer:
    """The planner without a model."""
    from streamhouse.planner.compose import compose
    from streamhouse.planner.understand import understand

    begin = time.perf_counter()
    sql = None
    read = said = error = ""
    try:
        understood = understand(wish, catalog)
        read = json.dumps(understood.model_dump(mode="json"), sort_keys=True)
        said = _said(understood)
        if not said and understood.request is not None:
            sql = render(compose(understood.request, catalog))
    except Exception as failed:  # noqa: BLE001 - whatever it is, it is a failure of this wish alone
        error = f"{type(failed).__name__}: {failed}"
    return Answer(sql, said, time.perf_counter() - begin, read, error)


def scripted(wish: str, catalog: "Catalog") -> Answer:
    """The planner offline, and where it says no, a model whose answers are written down."""
    from streamhouse.planner.language.screen import screened

    from .scripted import asked

    first = offline(wish, catalog)
    if first.accepted or first.error or screened(wish):
        return first
    begin = time.perf_counter()
    found = asked(wish, catalog)
    seconds = first.seconds + time.perf_counter() - begin
    said = "" if found.result is not None else f"{first.said}\n{found.why}"
    return Answer(found.result, said, seconds, first.understood)


PLANNERS: dict[str, Planner] = {"offline": offline, "scripted": scripted}


def _said(understood: "Understood") -> str:
    """The refusal, and the questions with their choices; empty: neither."""
    asked = [f"{one.text} {one.phrase} {', '.join(one.choices)}" for one in understood.questions]
    text = "\n".join(filter(None, [understood.refusal, *asked]))
    return text or ("" if understood.request is not None else "neither a request nor a reason")
