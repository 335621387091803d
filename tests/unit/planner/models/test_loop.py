import asyncio
from decimal import Decimal

import pytest

from streamhouse.errors import PlanningError
from streamhouse.planner.catalog import Catalog, CatalogColumn, CatalogTable
from streamhouse.planner.models.loop import ask_model
from streamhouse.planner.models.mask import Mask
from streamhouse.project.settings import ModelSettings
from tests.scripted_models import COUNT, Script, request, sql

CATALOG = Catalog({"ods.sales": CatalogTable("ods.sales", "f", "a", (CatalogColumn("store_id", "bigint"),))})
TURNED = {"kind": "condition", "left": {"kind": "column", "column": "x"}, "operator": "=", "values": ["a\u202eb"]}
REFUSAL = {"understood": {"refusal": "there is no weather"}}


def _asked(script, judge=lambda answer: answer, clock=None, **limits):
    more = {"clock": clock} if clock else {}
    given = ModelSettings.model_validate({"model": "openai:scripted", **limits})
    return ask_model(script.model, "sales per store", CATALOG, judge, given, Mask(), **more)


def _judge_who_refuses(times):
    left = [times]

    def judge(answer):
        left[0] -= 1
        if left[0] >= 0:
            raise PlanningError("no such thing", hint="take another")
        return answer

    return judge


def test_what_is_wrong_goes_back_and_the_mended_answer_is_taken():
    script = Script(request({"base": "ods.x"}), COUNT)
    found = _asked(script, _judge_who_refuses(1))
    assert found.result.request.block.base == "ods.sales"
    assert '"code":"SH700","message":"no such thing","hint":"take another"' in script.seen[1]
    assert (found.usage.tries, found.usage.input_tokens, found.usage.output_tokens) == (2, 200, 20)
    assert found.usage.cost_usd is None
    assert "2 tries, 200 tokens in, 20 out" in str(found.usage)
    assert "price unknown" in str(found.usage)


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("I would rather chat", "Please include your response in a tool call."),
        ({"understood": {"request": 3}}, "request: Input should be a valid dictionary or instance of Request"),
        ({"drop": {"table": "x\x1b"}}, "Unknown tool name: 'drop'. Available tools: 'action', 'understood'"),
        (request({"base": "sales", "blorps": 1}), "request.block.blorps: Extra inputs are not permitted"),
    ],
)
def test_nonsense_is_told_to_the_model_and_counts_as_a_try(answer, fault):
    assert _asked(Script(answer, COUNT)).usage.tries == 2
    found = _asked(Script(answer), tries=3)
    assert found.result is None
    assert found.usage.tries == 3
    assert found.why.startswith("no sound answer in 3 tries; wrong last: ")
    assert fault in found.why


def test_of_a_refused_answer_and_a_malformed_one_the_last_is_the_cause():
    found = _asked(Script(COUNT, "chat"), _judge_who_refuses(9), tries=3)
    assert found.why.endswith("wrong last: Please include your response in a tool call.")
    found = _asked(Script("chat", COUNT), _judge_who_refuses(9), tries=3)
    assert found.why.endswith("wrong last: SH700 no such thing")


def test_tries_are_bounded():
    found = _asked(Script(COUNT), _judge_who_refuses(9), tries=2)
    assert found.result is None
    assert (len(found.sent), found.usage.tries) == (2, 2)
    assert found.why == "no sound answer in 2 tries; wrong last: SH700 no such thing"


def test_tokens_are_bounded():
    found = _asked(Script(COUNT, input_tokens=700, output_tokens=1), _judge_who_refuses(9), tokens=1000, tries=9)
    assert found.usage.tries == 2
    assert found.why.startswith("1,000 tokens are used up")


def test_money_is_bounded_where_its_price_is_known():
    script = Script(COUNT, input_tokens=1, output_tokens=1, cost=Decimal("0.04"))
    found = _asked(script, _judge_who_refuses(9), cost_usd=0.1, tries=9)
    assert (found.usage.tries, found.usage.cost_usd) == (3, Decimal("0.12"))
    assert found.why.startswith("0.1 USD are used up")
    assert "0.1200 USD" in str(found.usage)


def test_time_is_bounded_and_only_that_of_the_model_counts():
    now = [0.0]

    def later(seconds):
        now[0] += seconds

    def judge(answer):
        later(1000)  # Spark took its time
        raise PlanningError("no")

    found = _asked(Script(COUNT, before=lambda: later(25)), judge, clock=lambda: now[0], seconds=60, tries=9)
    assert (found.usage.tries, found.usage.seconds) == (3, 75)
    assert found.why.startswith("60 seconds are used up")


def test_a_model_that_goes_away_after_a_refusal_leaves_that_refusal_as_the_cause():
    calls = iter((lambda: None, _fails))
    found = _asked(Script(COUNT, before=lambda: next(calls)()), _judge_who_refuses(9), tries=3)
    assert found.why == "OSError: the line is dead; wrong last: SH700 no such thing"


def _fails():
    raise OSError("the line is dead")


@pytest.mark.parametrize(
    ("answer", "waits", "limits", "seconds", "why"),
    [
        ("chat", lambda: None, {"tries": 2}, 8, "no sound answer in 2 tries"),
        (COUNT, _fails, {}, 4, "OSError: the line is dead"),
        (COUNT, lambda: None, {"tokens": 100}, 4, "100 tokens are used up"),
    ],
)
def test_time_counts_however_the_wait_for_the_model_ends(answer, waits, limits, seconds, why):
    now = [0.0]

    def before():
        now[0] += 4
        waits()

    found = _asked(Script(answer, before=before), clock=lambda: now[0], **limits)
    assert found.why.startswith(why)
    assert found.usage.seconds == seconds
    assert f"{seconds}.0 s" in str(found.usage)


def test_a_model_that_does_not_answer_is_left():
    from pydantic_ai.models.function import FunctionModel

    async def never(*_):
        await asyncio.Event().wait()

    script = Script(COUNT)
    type(script).model, kept = property(lambda _: FunctionModel(never)), type(script).model
    try:
        found = _asked(script, seconds=0.5)
    finally:
        type(script).model = kept
    assert found.result is None
    assert found.why == "no answer within 0.5 seconds"
    assert found.usage.tries == 1


def test_a_server_may_ask_from_within_its_own_loop():
    async def serve():
        return _asked(Script(COUNT))

    assert asyncio.run(serve()).result.request is not None


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"understood": {}}, "just one of"),
        ({"understood": {"refusal": "no", **COUNT["understood"]}}, "just one of"),
        (request({"base": "ods.sales"}, of={"layer": "ods"}), "ods"),
        (sql("SELECT 1 \x1b[2J AS x FROM ods.sales", "x"), "invisible characters"),
        (request({"base": "ods.sales", "filters": [TURNED]}), "invisible characters"),
    ],
)  # fmt: skip
def test_an_answer_that_says_several_things_or_hides_something_is_refused(answer, said):
    script = Script(answer, REFUSAL)
    assert _asked(script).result.refusal == "there is no weather"
    assert said in script.seen[1]


def test_texts_for_people_lose_what_would_command_a_terminal():
    script = Script({"understood": {"refusal": "no \x1b[31mred\x07\n\u202eevil", "assumptions": ["\x9b2J", "fine"],
                                    "readings": [{"phrase": "a\x1b", "became": "b" * 9999}]}})  # fmt: skip
    found = _asked(script).result
    assert found.refusal == "no [31mred evil"
    assert found.assumptions == ("2J", "fine")
    assert found.readings[0].phrase == "a"
    assert len(found.readings[0].became) == 500


def test_what_was_sent_is_all_that_the_model_saw():
    script = Script(COUNT, REFUSAL)
    found = _asked(script, _judge_who_refuses(1))
    assert [one["messages"][-1]["parts"][-1]["content"] for one in found.sent] == script.seen
    assert found.sent[0]["messages"][0]["instructions"].startswith("You read one wish")
    assert set(found.sent[0]["answers"]) == {"understood", "action"}
