"""Every key that a person must write has a remedy of its own for who left it out."""

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from streamhouse.errors import StreamhouseError
from streamhouse.model.action import Action
from streamhouse.model.flow import Flow, Source
from streamhouse.registry.problems import flat
from streamhouse.registry.read_action import read_action
from streamhouse.registry.wording import MISSING

ACTION = "/* ---\naction: a\nstep: clean\ninputs: {{t: {{k: int}}}}\n{more}\n--- */\nSELECT k FROM t\n"


def models(kind: Any) -> Iterator[type[BaseModel]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            if not field.exclude:
                yield from models(field.annotation)
    for inner in get_args(kind):
        yield from models(inner)


def required() -> list[tuple[str, str]]:
    found = {model for kind in (Action, Flow) for model in models(kind)} - {Source}  # the reader fills a Source
    return sorted(
        (model.__name__, field.alias or name)
        for model in found
        for name, field in model.model_fields.items()
        if field.is_required() and not field.exclude
    )


@pytest.mark.parametrize(("model", "key"), required())
def test_a_required_key_has_a_remedy(model, key):
    assert MISSING.get(key), f"{model}.{key}: add it to MISSING"


@pytest.mark.parametrize(
    ("more", "remedy"),
    [
        ("measures: {n: {unit: USD}}", "write what is computed: 'sql: SUM(revenue_cents) / 100'"),
        ("deprecated: {use: b}", "write the day from which it may be missing: 'until: 2027-01-31'"),
    ],
)
def test_who_left_it_out_reads_the_remedy(more, remedy):
    with pytest.raises(StreamhouseError) as caught:
        read_action(ACTION.format(more=more), "actions/a.sql")
    assert remedy in [one.hint for one in flat([caught.value])]
