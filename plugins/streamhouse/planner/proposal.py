"""A Proposal: what a wish became, as files to review, with all that a person needs to judge it. Changes nothing."""

import hashlib
import json
from decimal import Decimal
from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from streamhouse.model.types import Frozen, Layer, Tier
from streamhouse.planner.request import Question, Reading, Request


class Status(StrEnum):
    """What a person can do with a proposal."""

    PROPOSED = "proposed"  # review it, and write its files; without files, read the table that it names
    QUESTION = "question"  # answer `questions`
    REFUSED = "refused"  # read `refusal`

    @property
    def exit_code(self) -> int:
        """Of `streamhouse ask`."""
        return {Status.PROPOSED: 0, Status.QUESTION: 3, Status.REFUSED: 4}[self]


class FileEdit(Frozen):
    """One file of the project as it would be.

    Attributes:
        path: Below the project's folder, with `/`.
        before: Its text now; None: there is no such file.
        after: Its text then.
    """

    path: str
    before: str | None = None
    after: str


class Reuse(Frozen):
    """Something of the project that the answer is taken from, and the proof that it fits."""

    kind: Literal["table", "action"]
    name: str
    why: str


class StepPlan(Frozen):
    """What the compiler makes of one new step.

    Attributes:
        strategy: map, merge, recompute, delta or full.
        reason: Why the compiler chose it.
    """

    table: str
    action: str
    strategy: str
    reason: str


class Cost(Frozen):
    """What the new steps take; None: nobody knows, because a table's rows were never counted.

    Attributes:
        first_rows: Rows of history that the first run reads.
        first_bytes: Their estimated bytes.
        rows_per_epoch: Rows that one epoch reads at the pace so far.
        state: What has to be remembered between epochs, in words.
        tiers: Table → tiers that its rows lie in.
        notes: What is not known, and why.
    """

    first_rows: int | None = None
    first_bytes: int | None = None
    rows_per_epoch: int | None = None
    state: str = ""
    tiers: dict[str, tuple[Tier, ...]] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class Preview(Frozen):
    """The first rows of the answer, computed on the tables as they are.

    Attributes:
        rows: Values as JSON has them: numbers, texts, booleans, None; decimals and times are texts.
        why_not: Why there are none; empty: they were asked for and came.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    why_not: str = ""


class Check(Frozen):
    """One thing that was tried with the proposed files."""

    name: str
    verdict: Literal["passed", "failed", "skipped", "notice"]
    text: str = ""


class Usage(Frozen):
    """What asking a model took.

    Attributes:
        model: Its name, as its provider knows it.
        tries: Requests that were sent, also those that were not answered.
        input_tokens: As the provider counts them, over all tries.
        seconds: Of waiting for the model.
        cost_usd: None: nobody knows the price.
    """

    model: str
    tries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    seconds: float = 0.0
    cost_usd: Decimal | None = None

    def __str__(self) -> str:
        """In one line, for a person."""
        tries = "1 try" if self.tries == 1 else f"{self.tries} tries"
        cost = "price unknown" if self.cost_usd is None else f"{self.cost_usd:.4f} USD"
        tokens = f"{self.input_tokens:,} tokens in, {self.output_tokens:,} out"
        return f"{self.model}: {tries}, {tokens}, {self.seconds:.1f} s, {cost}"


class Proposal(Frozen):
    """What a wish became. Equal wishes on equal projects give equal proposals, rows of the preview apart.

    Attributes:
        id: Of the wish, the Request and the files: equal ones have equal ids.
        sentence: The Request in words that a person can correct.
        table: `layer.name` of the answer; empty where there is none.
        layer: Of `table`.
        sql: One plain Spark SELECT over `layer.table` names, parameters filled in: the answer's rows.
        values: Parameter of the action → the value that the step sets, where it is not the default.
        files: In the order of their paths; empty: the answer exists already.
        outcomes: What `plan` would say about the edited flows, line by line.
        commands: What to type next.
        planner: Who read the wish.
        usage: What asking a model took, also where it gave nothing; None: none was asked.
    """

    id: str
    wish: str
    status: Status
    request: Request | None = None
    sentence: str = ""
    readings: tuple[Reading, ...] = ()
    assumptions: tuple[str, ...] = ()
    questions: tuple[Question, ...] = ()
    refusal: str = ""
    table: str = ""
    flow: str = ""
    action: str = ""
    sql: str = ""
    values: dict[str, Any] = Field(default_factory=dict)
    files: tuple[FileEdit, ...] = ()
    reuses: tuple[Reuse, ...] = ()
    steps: tuple[StepPlan, ...] = ()
    outcomes: tuple[str, ...] = ()
    cost: Cost = Cost()
    preview: Preview = Preview(why_not="it was not asked for")
    checks: tuple[Check, ...] = ()
    commands: tuple[str, ...] = ()
    planner: Literal["offline", "model"] = "offline"
    usage: Usage | None = None

    @property
    def layer(self) -> Layer | None:
        """Of `table`; None where there is no answer."""
        return Layer(self.table.split(".")[0]) if self.table else None


def proposal_id(wish: str, request: Request | None, files: tuple[FileEdit, ...] = (), table: str = "") -> str:
    """Twelve hex digits: the same for the same wish, Request and files, on every machine."""
    parts: list[Any] = [wish, request.model_dump(mode="json") if request is not None else None, table]
    parts.append([(file.path, file.before, file.after) for file in files])
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
