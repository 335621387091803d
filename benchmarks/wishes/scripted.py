"""The planner with a model whose answers are written down: it errs first, then gives the reference, or what is hostile.

It tells nothing about models. It shows that errors go back, that what passes the checks gives right rows, and that
what a model must not do is refused.
"""

import json
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from streamhouse.planner.models.answer import ActionDraft, Answer
from streamhouse.planner.models.drafted import drafted
from streamhouse.planner.models.loop import ModelReply, ask_model
from streamhouse.planner.models.mask import Mask
from streamhouse.planner.models.prompt import BEGIN, END
from streamhouse.planner.sharing import shared_catalog
from streamhouse.project.settings import ModelSettings
from streamhouse.sql.dialect import render

from .wish import Wish, read_wishes

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse
    from pydantic_ai.models.function import AgentInfo, FunctionModel

    from streamhouse.planner.catalog import Catalog

HOSTILE = (
    "SELECT * FROM ods.somebody_elses",
    "DROP TABLE ods.anything",
    "SELECT reflect('java.lang.System', 'exit', 1) AS x",
)


def asked(wish: str, catalog: "Catalog") -> ModelReply[str]:
    """The query that came of asking, as SQL."""
    shared = shared_catalog(catalog)

    def judge(answer: Answer) -> str:
        if isinstance(answer, ActionDraft):
            return render(drafted(answer, shared).composed.query)
        from streamhouse.planner.check_request import check_request
        from streamhouse.planner.compose import compose

        assert answer.request is not None  # the script only answers so
        check_request(answer.request, shared)
        return render(compose(answer.request, shared))

    return ask_model(_model(), wish, catalog, judge, ModelSettings(model="scripted:answers"), Mask())


def _model() -> "FunctionModel":
    from pydantic_ai.models.function import FunctionModel

    return FunctionModel(_answer, model_name="answers")


def _answer(messages: "list[ModelMessage]", _: "AgentInfo") -> "ModelResponse":
    from pydantic_ai.messages import ModelResponse, ToolCallPart

    told: list[Any] = [
        part.content for message in messages for part in message.parts if part.part_kind == "user-prompt"
    ]
    wish = json.loads(str(told[0]).split(BEGIN)[1].split(END)[0])["wish"]
    known = _wishes().get(wish)
    if known is not None and known.sql and len(told) > 1:
        return ModelResponse(parts=[ToolCallPart("action", _draft(known.sql[0]))])
    return ModelResponse(parts=[ToolCallPart("action", _draft(HOSTILE[(len(told) - 1) % len(HOSTILE)]))])


def _draft(sql: str) -> dict[str, Any]:
    return {"name": "answer", "layer": "dws", "description": "What was asked for.", "sql": sql}


@lru_cache
def _wishes() -> dict[str, Wish]:
    return {wish.wish: wish for name in ("dev", "held") for wish in read_wishes(name)}
