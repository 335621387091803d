"""A store is opened when it is first asked for, and Fluss started for the hot one alone."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from streamhouse.errors import EnvironmentProblem
from streamhouse.model.types import Tier
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings
from streamhouse.runtime.stores import LazyStores


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, Settings())


def test_fluss_is_started_once_and_only_for_the_hot_tier(project):
    started = []

    def start():
        started.append(1)
        return "127.0.0.1:1"

    stores = LazyStores(project, None, start)
    assert stores[Tier.WARM] is stores[Tier.WARM]
    assert list(stores) == list(Tier)
    assert not started
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: stores[Tier.HOT], range(8)))
    assert len(found) == len(started) == 1
    assert found.pop().bootstrap == "127.0.0.1:1"
    stores.close()


def test_what_failed_is_tried_again(project):
    answers = iter([EnvironmentProblem("no room"), "127.0.0.1:1"])

    def start():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    stores = LazyStores(project, None, start)
    with pytest.raises(EnvironmentProblem, match="no room"):
        stores[Tier.HOT]
    assert stores[Tier.HOT] is stores[Tier.HOT]
    stores.close()
