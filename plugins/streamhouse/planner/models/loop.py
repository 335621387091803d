"""Asks a model until its answer passes, within tries, tokens, money and time."""

import asyncio
import time
import warnings
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from streamhouse.errors import StreamhouseError
from streamhouse.planner.models.answer import ActionDraft, Answer, checked, shown
from streamhouse.planner.models.malformed import fault_of
from streamhouse.planner.models.mask import Mask
from streamhouse.planner.models.prompt import INSTRUCTIONS, feedback, question
from streamhouse.planner.models.recorded import Sent, recording
from streamhouse.planner.proposal import Usage
from streamhouse.planner.request import Understood

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from streamhouse.planner.catalog import Catalog
    from streamhouse.project.settings import ModelSettings

T = TypeVar("T")
Found = TypeVar("Found")
_REST_TOKENS = 10_000  # of a try: instructions, the schema of answers, the answer
_LETTERS_A_TOKEN = 3
_LEAST_LETTERS = 2_000


@dataclass(frozen=True)
class ModelReply(Generic[T]):
    """What came of asking a model.

    Attributes:
        result: What was made of the answer that passed; None: none did, and `why` says why.
        sent: What left this machine, in order.
    """

    result: T | None
    usage: Usage
    sent: tuple[Sent, ...] = ()
    why: str = ""


def ask_model(
    model: "Model",
    wish: str,
    catalog: "Catalog",
    judge: Callable[[Answer], T],
    limits: "ModelSettings",
    mask: Mask,
    *,
    record: Callable[[Sent], None] = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
) -> ModelReply[T]:
    """Ask a model how a wish is to be read; what is wrong with an answer goes back to it.

    Args:
        model: It gets no tools: all that it can do is answer.
        wish: In plain words.
        catalog: All tables; what may not be shared is left out.
        judge: Makes something of an answer, or raises what is wrong with it.
        limits: `seconds` counts the waiting for the model alone; `tokens` and `cost_usd` stop the next try, and an
            answer that goes beyond them is not used.
        mask: Takes secrets and hidden names out of all that is sent.
        record: Gets each request before it leaves; where it raises an error, nothing leaves.
        clock: Seconds, of which only differences count.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _Conversation(model, judge, limits, mask, record, clock).ask(wish, catalog)
    with ThreadPoolExecutor(1) as other:  # a server asks from within its own loop
        return other.submit(_Conversation(model, judge, limits, mask, record, clock).ask, wish, catalog).result()


@dataclass
class _Conversation(Generic[T]):
    model: "Model"
    judge: Callable[[Answer], T]
    limits: "ModelSettings"
    mask: Mask
    record: Callable[[Sent], None]
    clock: Callable[[], float]
    sent: list[Sent] = field(default_factory=list)
    seconds: float = 0.0

    def ask(self, wish: str, catalog: "Catalog") -> ModelReply[T]:
        from pydantic_ai import Agent, ToolOutput, capture_run_messages
        from pydantic_ai.usage import RunUsage, UsageLimits

        limits, usage = self.limits, RunUsage()
        agent: Agent[object, Answer] = Agent(
            recording(self.model, self._leaves),
            output_type=[ToolOutput(Understood, name="understood"), ToolOutput(ActionDraft, name="action")],
            instructions=INSTRUCTIONS,
            retries={"tools": limits.tries, "output": limits.tries},  # the limit of requests ends it before
        )
        bounds = UsageLimits(
            request_limit=limits.tries, total_tokens_limit=limits.tokens, cost_limit=Decimal(str(limits.cost_usd))
        )
        budget = max(_LEAST_LETTERS, (limits.tokens // limits.tries - _REST_TOKENS) * _LETTERS_A_TOKEN)
        message, history, wrong = question(wish, catalog, self.mask, budget), None, ""
        with asyncio.Runner() as runner, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that nobody knows a price is said with the usage
            while True:
                if self.seconds >= limits.seconds:
                    return self._ended(usage, f"{limits.seconds:g} seconds are used up", wrong)
                with capture_run_messages() as messages:
                    answering = agent.run(
                        message,
                        message_history=history,
                        usage=usage,
                        usage_limits=bounds,
                        timeout=limits.seconds - self.seconds,
                        model_settings={"max_retries": 0, "max_tokens": min(16_000, limits.tokens)},
                    )
                    try:
                        found = self._waited(runner, answering)
                    except Exception as error:  # noqa: BLE001  packages of providers raise what they like; offline goes on
                        wrong = shown(self.mask.text(fault_of(messages))) or wrong
                        return self._ended(usage, self._cause(error, usage), wrong)
                try:
                    return ModelReply(self.judge(checked(found.output)), self._usage(usage), tuple(self.sent))
                except StreamhouseError as error:
                    message, history = feedback(error, self.mask), found.all_messages()
                    wrong = shown(f"{error.code} {error.message}" if error.code != "SH000" else error.message)

    def _leaves(self, request: Sent) -> None:
        self.record(request)
        self.sent.append(request)

    def _waited(self, runner: asyncio.Runner, answering: Coroutine[Any, Any, Found]) -> Found:
        """What comes of waiting for the model; the time counts however that ends, before anybody reads it."""
        began = self.clock()
        try:
            return runner.run(answering, context=copy_context())  # a runner's own context lacks what is captured
        finally:
            self.seconds += self.clock() - began

    def _ended(self, usage: Any, why: str, wrong: str) -> ModelReply[T]:
        return ModelReply(None, self._usage(usage), tuple(self.sent), f"{why}; wrong last: {wrong}" if wrong else why)

    def _cause(self, error: Exception, usage: Any) -> str:
        from pydantic_ai.exceptions import ModelAPIError, UsageLimitExceeded

        limits = self.limits
        if isinstance(error, UsageLimitExceeded):
            if usage.total_tokens > limits.tokens:
                return f"{limits.tokens:,} tokens are used up"
            if usage.cost is not None and usage.cost > Decimal(str(limits.cost_usd)):
                return f"{limits.cost_usd:g} USD are used up"
            return f"no sound answer in {limits.tries} {'try' if limits.tries == 1 else 'tries'}"
        if isinstance(error, TimeoutError):
            return f"no answer within {limits.seconds:g} seconds"
        reached = "it does not answer: " if isinstance(error, ModelAPIError) else ""
        return shown(f"{reached}{type(error).__name__}: {self.mask.text(str(error))}")[:200]

    def _usage(self, usage: Any) -> Usage:
        return Usage(
            model=self.limits.model or self.model.model_name,
            tries=len(self.sent),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            seconds=round(self.seconds, 3),
            cost_usd=usage.cost if not usage.unmeasured_requests else None,
        )
