"""Queries of a project where the plan of one flow cannot be read."""

import pytest

from streamhouse.cli.init import write_project
from streamhouse.errors import QueryRefusedError
from streamhouse.jobs.query import catalog_of
from streamhouse.project.project import Project
from streamhouse.query.parse import parse_query
from tests.two_flows import HOW, apply_both, spoil_plan

pytestmark = pytest.mark.proof


@pytest.mark.parametrize("how", HOW)
def test_tables_of_the_others_are_read_and_those_of_the_flow_name_its_error(tmp_path, monkeypatch, how):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    write_project(tmp_path)
    project = Project.at(tmp_path)
    apply_both(project)
    spoil_plan(project, how)
    catalog = catalog_of(project)
    assert [use.name for use in parse_query("SELECT * FROM ods.others", catalog).uses]
    with pytest.raises(QueryRefusedError) as refused:
        parse_query("SELECT * FROM ods.orders", catalog)
    assert refused.value.message.startswith(
        f"table 'ods.orders' is not known, and neither are those of orders: {HOW[how]}"
    )
    assert refused.value.hint
