"""A wish that a language model may read: the offline reader first, the model within its limits, and back again."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from streamhouse.errors import ModelAwayError, PlanningError, RequestShapeError
from streamhouse.planner.language.screen import screened
from streamhouse.planner.models.answer import ActionDraft, Answer
from streamhouse.planner.models.mask import Mask
from streamhouse.planner.proposal import Check, Status, Usage
from streamhouse.planner.propose import ProposalDraft, finished
from streamhouse.planner.request import Understood
from streamhouse.planner.secrets import Secrets
from streamhouse.planner.sharing import shared_catalog
from streamhouse.planner.workspace import Workspace
from streamhouse.project.settings import ModelSettings, Settings

if TYPE_CHECKING:
    from streamhouse.jobs.ask_options import Options, Say
    from streamhouse.planner.models.sent import SentRecord

Read = Callable[[], Understood]
OFF = "off"
ON = "on"
"""The model of the settings, without trying to read the wish offline first."""


@dataclass(frozen=True)
class ModelAnswer:
    """What a wish became, and what was sent for that; None: nothing."""

    draft: ProposalDraft
    sent: "SentRecord | None" = None


def with_model(
    wish: str,
    space: Workspace,
    options: "Options",
    offline: Read,
    make_draft: Callable[[Understood], ProposalDraft],
    say: "Say",
) -> ModelAnswer:
    """What a wish becomes, where a model may be asked.

    Args:
        wish: In plain words, questions answered.
        space: The project.
        options: Its `model` says whether one is asked.
        offline: Reads the wish without a model.
        make_draft: Makes a draft of a wish that was read.
        say: Is called with what is being waited for, and why a model gave nothing.
    """
    limits = _limits(options.model, space.project.settings.models)
    if limits.model is None:
        if options.model == ON:
            why = "no model is asked: the settings name none (models: in streamhouse.yaml)"
            return ModelAnswer(make_draft(_said(offline(), why, say)))
        return ModelAnswer(make_draft(offline()))
    if not wish.strip() or screened(wish):  # nothing, an order, or about something else than data: no model helps
        return ModelAnswer(make_draft(offline()))
    understood = offline() if options.model is None else None
    if understood is not None and understood.request is not None:
        draft = make_draft(understood)
        if draft.proposal.status is Status.PROPOSED:
            return ModelAnswer(draft)
    return _ask_model(wish, space, options, limits, understood or offline, make_draft, say)


def may_ask_model(options: "Options", settings: Settings) -> bool:
    """Whether a model may read wishes."""
    return _limits(options.model, settings.models).model is not None


def _limits(model: str | None, settings: ModelSettings) -> ModelSettings:
    if model == OFF:
        return settings.model_copy(update={"model": None})
    if model is None or model == ON:
        return settings
    return ModelSettings.model_validate(settings.model_dump() | {"model": model})


def _ask_model(
    wish: str,
    space: Workspace,
    options: "Options",
    limits: ModelSettings,
    understood: Understood | Read,
    make_draft: Callable[[Understood], ProposalDraft],
    say: "Say",
) -> ModelAnswer:
    from streamhouse.planner.models import connect
    from streamhouse.planner.models.loop import ask_model
    from streamhouse.planner.models.sent import SentRecord

    def offline(why: str) -> ProposalDraft:
        read = understood if isinstance(understood, Understood) else understood()
        return make_draft(_said(read, why, say))

    project, flows = space.project, space.registry.flows.values()
    mask = Mask.of(space.catalog, Secrets.of(project.settings, project.root, flows, os.environ))
    judge = _Judge(wish, space, options, make_draft)
    try:
        model = connect.open_model(limits, os.environ)
    except ModelAwayError as error:
        hint = f" ({error.hint})" if error.hint else ""
        return ModelAnswer(offline(f"{error.message}{hint}; the wish was read offline"))
    say(f"asking {limits.model}")
    sent = SentRecord(space.project)
    reply = ask_model(model, wish, space.catalog, judge.draft_of, limits, mask, record=sent.add)
    if reply.result is None:
        why = f"{limits.model} gave nothing to propose: {reply.why}; the wish was read offline"
        return ModelAnswer(_noted(offline(why), reply.usage), sent)
    draft, proposal = reply.result, reply.result.proposal
    if proposal.status is Status.REFUSED and isinstance(understood, Understood):
        why = f"{limits.model} refused, too: {proposal.refusal}"
        return ModelAnswer(_noted(offline(why), reply.usage), sent)
    notes = [f"{limits.model} read the wish"]
    if isinstance(understood, Understood):  # what the model chose where a person would have been asked
        notes += [f"it was not asked: {one.text}" for one in understood.questions]
    notes += [f"the price of {reply.usage.model} is unknown: cost_usd bounds nothing"] * (reply.usage.cost_usd is None)
    proposal = proposal.model_copy(
        update={"planner": "model", "usage": reply.usage, "assumptions": (*notes, *proposal.assumptions)}
    )
    return ModelAnswer(replace(draft, proposal=proposal), sent)


class _Judge:
    """Makes a proposal of a model's answer, by the gate that every Request passes."""

    def __init__(
        self, wish: str, space: Workspace, options: "Options", make_draft: Callable[[Understood], ProposalDraft]
    ) -> None:
        self._wish, self._space, self._options, self._make_draft = wish, space, options, make_draft
        self._shared = shared_catalog(space.catalog)

    def draft_of(self, answer: Answer) -> ProposalDraft:
        """The proposal.

        Raises:
            StreamhouseError: what is wrong with the answer.
        """
        from streamhouse.planner.check_request import check_request

        if isinstance(answer, ActionDraft):
            return self._of_sql(answer)
        if answer.request is None:
            return self._make_draft(answer)
        request = answer.request.model_copy(update={"wish": self._wish})
        check_request(request, self._shared)  # over what it was shown: a hint names nothing else
        draft = self._make_draft(answer.model_copy(update={"request": request}))
        return self._sound(draft)

    def _of_sql(self, answer: ActionDraft) -> ProposalDraft:
        from streamhouse.planner.models.drafted import drafted
        from streamhouse.planner.models.propose_draft import examples_of, propose_draft

        options = self._options
        requested_values = {"name": options.name, "layer": options.layer, "freshness": options.freshness}
        answer = answer.model_copy(update={key: value for key, value in requested_values.items() if value is not None})
        found = drafted(answer, self._shared)
        named = options.name is not None
        draft = propose_draft(found, self._wish, self._space, flow=options.flow, alone=options.alone, is_named=named)
        draft = self._sound(draft)
        if draft.action is None or not answer.examples:
            return draft
        return self._with_examples(draft, examples_of(draft, found))

    def _with_examples(self, draft: ProposalDraft, examples: "tuple[dict[str, object], ...]") -> ProposalDraft:
        """The draft with examples that passed on Spark; without where Spark is not wanted."""
        wanted = self._options.examples
        if not (wanted or (wanted is None and self._space.applied.rows)):
            check = Check(name="examples", verdict="skipped", text="the model's examples were not run, and left out")
            return _checked(draft, check)
        from streamhouse.jobs.examples import run_examples
        from streamhouse.registry.read_action import read_action
        from streamhouse.runtime.session import spark_session

        whole = self._sound(finished(draft, self._space, examples))
        assert whole.action is not None
        action = read_action(whole.action.text, whole.action.path).action
        with spark_session(self._space.project, name="streamhouse-ask") as spark:
            results = run_examples(spark, action)
        for result in results:
            if not result.passed:  # rows of an example are the model's own, and so may go back
                why = result.error or f"{result.columns}: lacks {result.missing}, has beyond that {result.unexpected}"
                raise RequestShapeError(f"example {result.number} fails: {why}", hint="mend the SQL or the example")
        return _checked(whole, Check(name="examples", verdict="passed", text=f"{len(examples)}, written by the model"))

    def _sound(self, draft: ProposalDraft) -> ProposalDraft:
        if draft.proposal.status is Status.REFUSED:
            raise PlanningError(draft.proposal.refusal)
        return draft


def _said(read: Understood, why: str, say: "Say") -> Understood:
    say(why)
    return read.model_copy(update={"assumptions": (why, *read.assumptions)})


def _noted(draft: ProposalDraft, usage: Usage) -> ProposalDraft:
    return replace(draft, proposal=draft.proposal.model_copy(update={"usage": usage}))


def _checked(draft: ProposalDraft, check: Check) -> ProposalDraft:
    proposal = draft.proposal
    return replace(draft, proposal=proposal.model_copy(update={"checks": (*proposal.checks, check)}))
