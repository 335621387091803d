"""Tasks that look at the health of a flow and fail as an alarm. All but one read the state store alone."""

from datetime import UTC, datetime, timedelta
from typing import Any

from airflow.sdk.exceptions import AirflowFailException, AirflowSkipException  # noqa: TID253  for Airflow alone

from streamhouse.orchestrator.flow_end import alarm
from streamhouse.orchestrator.operators import ROWS_ARE_OVERDUE, FlowOperator, overdue_text
from streamhouse.state.flow_state import FlowReport, FlowState, see

_EVENTS = 1_000  # looked at


class QualityCheck(FlowOperator):
    """Fails when something is wrong; no retry would tell something else."""

    ui_color = "#f3f0d8"

    def flow_report(self) -> FlowReport:
        """The flow as it is now."""
        from streamhouse.runtime.owner import liveness

        with self.state() as state:
            return see(state, self.flow, alive=liveness())


class RunnerCheck(QualityCheck):
    """Fails when the flow failed, or has no runner though it should."""

    def work(self, context: Any) -> str:  # noqa: ARG002  Airflow's signature
        """Look at the runner.

        Raises:
            AirflowSkipException: the flow was stopped.
            AirflowFailException: the flow should run and does not.
        """
        report = self.flow_report()
        if report.state is FlowState.STOPPED:
            raise AirflowSkipException(f"{self.flow} is stopped")
        wrong = alarm(report, datetime.now(UTC))
        if wrong is not None:
            raise AirflowFailException(wrong)
        self.log.info("%s is %s", self.flow, report.state)
        return report.state.value


class FreshnessCheck(QualityCheck):
    """Fails when, in half of the last epochs, a layer was readable later than the flow promises.

    Args:
        target_ms: The flow's freshness.
        kwargs: Of `FlowOperator`.
    """

    def __init__(self, *, target_ms: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.target_ms = target_ms

    def work(self, context: Any) -> dict[str, int]:  # noqa: ARG002  Airflow's signature
        """Compare; the value is layer → median in milliseconds.

        Raises:
            AirflowSkipException: the flow has finished no epoch yet.
            AirflowFailException: a layer is further behind than the flow promises.
        """
        found = self.flow_report().progress.freshness
        if not found:
            raise AirflowSkipException(f"{self.flow} finished no epoch yet")
        lines = [
            f"{layer} lags {lag.p50_ms} ms behind the source (p95 {lag.p95_ms} ms) over {lag.epochs} epochs"
            for layer, lag in found.items()
        ]
        if any(lag.p50_ms > self.target_ms for lag in found.values()):
            promised = f"{self.flow} promises {self.target_ms} ms"
            raise AirflowFailException("\n".join([promised, *lines]))
        self.log.info("%s", "\n".join(lines))
        return {layer: lag.p50_ms for layer, lag in found.items()}


class ExpectationsCheck(QualityCheck):
    """Fails when rows violated an expectation since the last look.

    Args:
        steps: Ids of the steps whose expectations are meant.
        every_s: How far back the last look was.
        kwargs: Of `FlowOperator`.
    """

    def __init__(self, *, steps: list[str], every_s: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.steps = steps
        self.every_s = every_s

    def work(self, context: Any) -> None:
        """Look for violations.

        Raises:
            AirflowFailException: rows violated an expectation.
        """
        now = context["dag_run"].start_date or datetime.now(UTC)
        since = now - timedelta(seconds=self.every_s)
        with self.state() as state:
            events = state.events(self.flow, limit=_EVENTS)
        violations = [e.text for e in events if e.kind == "expectation" and e.at >= since and self._is_mine(e.text)]
        if violations:
            raise AirflowFailException("\n".join(violations[-20:]))
        self.log.info("every row met its expectations since %s", since)

    def _is_mine(self, text: str) -> bool:
        return any(f" violate {step}." in text for step in self.steps)


class OverdueCheck(QualityCheck):
    """Fails when a further tier lacks rows that the hot tier will drop before long."""

    def work(self, context: Any) -> None:  # noqa: ARG002  Airflow's signature
        """Ask the engine; nothing is moved.

        Raises:
            AirflowFailException: rows are overdue in a lake.
        """
        self.skip_unless_it_ran()
        late = self.engine("tier", self.flow, "--check", fine=(ROWS_ARE_OVERDUE,)).get("overdue", [])
        if late:
            raise AirflowFailException("\n".join(overdue_text(one) for one in late))
