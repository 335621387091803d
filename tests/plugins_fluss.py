"""The embedded Fluss, started once for all tests that ask for it; or the one that STREAMHOUSE_TEST_FLUSS names."""

import os
from collections.abc import Iterator

import pytest

from streamhouse.services.services import running


@pytest.fixture(scope="session")
def fluss(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address `localhost:PORT` of a Fluss that all tests of this run share: give tables names of their own."""
    if given := os.environ.get("STREAMHOUSE_TEST_FLUSS"):
        yield given
        return
    with running(tmp_path_factory.mktemp("fluss")) as endpoints:
        yield endpoints.fluss
