"""What the random flows of `tests.histories` keep to, so that none is refused before it runs."""

from hypothesis import HealthCheck, given, settings

from tests.histories import Case, cases


@settings(max_examples=200, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
@given(case=cases())
def test_no_flow_follows_a_cold_table_of_another(case: Case) -> None:
    flows = case.flows()
    cold = {step.writes for step in flows["up"] if step.tier == "cold"}
    followed = {table for step in flows.get("down", ()) for table in step.reads.values()}
    assert not cold & followed
