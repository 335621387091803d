"""A table that was put back from an older copy, in the tier that its flow writes, answers no query."""

from pathlib import Path

import pytest

from streamhouse.errors import TableLostError
from streamhouse.jobs.query import QueryService
from streamhouse.project.project import Project
from tests.unit.runtime.test_damaged_unread import project

__all__ = ["project"]
ASKED = ("SELECT id FROM ods.read", "SELECT count(*) FROM ods.read", "SELECT id FROM ods.read$warm")


@pytest.mark.parametrize("sql", ASKED)
def test_an_older_table_is_refused_and_gives_no_fewer_rows(project, sql):
    with QueryService(project) as asking:
        assert asking.ask(sql).rows.num_rows
    snapshots = Path(project.warm) / "ods.db" / "read" / "snapshot"
    (snapshots / "snapshot-3").unlink()
    (snapshots.parent / "checksums" / "snapshot-3").unlink()
    (snapshots / "LATEST").write_text("2")
    with QueryService(project) as asking, pytest.raises(TableLostError) as refused:
        asking.ask(sql)
    assert "ends at {'snapshot': 2}, before {'snapshot': 3}, where the flow left it" in refused.value.message
    assert "streamhouse restore" in refused.value.hint


JOINED = "SELECT a.id FROM ods.read a JOIN dwd.copied b ON a.id = b.id"


def test_the_state_store_is_opened_no_more_often_for_more_tables(project, monkeypatch):
    opened, each = [], Project.state

    def state(self):
        opened.append(self)
        return each(self)

    monkeypatch.setattr(Project, "state", state)
    with QueryService(project) as asking:
        asking.ask(JOINED)  # the stores open it once
        opened.clear()
        asking.ask(ASKED[0])
        for_one = len(opened)
        asking.ask(JOINED)
    assert len(opened) == 2 * for_one
