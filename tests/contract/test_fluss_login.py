"""A Fluss that lets nobody in without user and password: both of our clients log in to it, or say why they cannot."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pyarrow as pa
import pytest
import yaml

from streamhouse.errors import EnvironmentProblem, LoginRefusedError, StoreError
from streamhouse.model.table import Table
from streamhouse.model.types import Tier
from streamhouse.services import cluster
from streamhouse.services.services import running
from streamhouse.stores.base import Changes, WriteContext
from streamhouse.stores.fluss.native import Native, Target
from streamhouse.stores.fluss.store import FlussStore
from streamhouse.stores.fluss.wire.login import Login
from streamhouse.stores.places import Places, open_store
from tests.patience import PATIENCE_S
from tests.ports import take_ports

pytestmark = pytest.mark.services
RIGHT = Login("streamhouse", "right")


def production_settings(password: str) -> dict[str, str]:
    """What `docker-compose.yml` tells Fluss's servers of listeners and logins, but their addresses."""
    compose = yaml.safe_load((Path(__file__).parents[2] / "docker-compose.yml").read_text())
    text = compose["services"]["fluss-coordinator"]["environment"]["FLUSS_PROPERTIES"]
    told = dict(line.split(": ", 1) for line in text.splitlines())
    wanted = {key: value for key, value in told.items() if key.startswith(("security.", "internal."))}
    return {key: re.sub(r"\$\{FLUSS_PASSWORD:.*?\}", password, value) for key, value in wanted.items()}


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address at which a Fluss asks for a login; among themselves its servers talk over another listener."""
    doors = dict(zip(("coordinator", "tablet"), take_ports(2), strict=True))
    plain = cluster.Cluster._server

    def asking(self: cluster.Cluster, port: int) -> list[str]:
        given = [text for text in plain(self, port) if not text.startswith("-Dbind.listeners")]
        door = doors["coordinator" if port == self.ports.coordinator else "tablet"]
        return [
            *given,
            f"-Dbind.listeners=INTERNAL://127.0.0.1:{port},FLUSS://127.0.0.1:{door}",
        ]

    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(cluster.Cluster, "_server", asking)
            for setting, value in production_settings("right").items():
                patch.setitem(cluster._SETTINGS, setting, value)
            stack.enter_context(running(tmp_path_factory.mktemp("guarded")))
        yield f"127.0.0.1:{doors['coordinator']}"


@pytest.fixture
def table(make_table: Callable[..., Table]) -> Table:
    return make_table(k="bigint", v="string", key=("k",))


def test_who_logs_in_reads_and_writes(guarded: str, table: Table, monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setenv("STREAMHOUSE_FLUSS_PASSWORD", "right")
    places = Places(root=tmp_path, fluss=guarded, fluss_user="streamhouse", warm=str(tmp_path), locks=tmp_path)
    store = open_store(Tier.HOT, places)
    store.create(table)
    rows = pa.table({"k": pa.array([1, 2], pa.int64()), "v": ["a", "b"]})
    end = store.write(table, Changes(rows), WriteContext("flow/login", 0))
    assert store.read_state(table).sort_by("k").equals(rows)
    assert store.read_changes(table, {}, end).upserts.num_rows == 2
    store.close()


@pytest.mark.parametrize("login", [Login("streamhouse", "wr0ng"), Login("nobody", "wr0ng")], ids=["password", "user"])
def test_a_wrong_login_is_told_as_that(guarded: str, table: Table, login: Login) -> None:
    store = FlussStore(guarded, timeout_s=PATIENCE_S, login=login)
    with pytest.raises(LoginRefusedError, match="does not let us in") as refused:
        store.create(table)
    assert refused.value.code == "SH407"
    assert "STREAMHOUSE_FLUSS_PASSWORD" in str(refused.value.hint)
    assert "wr0ng" not in str(refused.value)
    with pytest.raises(LoginRefusedError):  # by Fluss's own client
        Native(guarded, PATIENCE_S, login).scan(Target("ods.t", 1, 1, frozenset()), "0", ["k"])
    store.close()


def test_who_does_not_log_in_is_refused(guarded: str, table: Table) -> None:
    store = FlussStore(guarded, timeout_s=PATIENCE_S)
    with pytest.raises(LoginRefusedError, match="does not let us in"):
        store.create(table)
    store.close()


def test_a_fluss_without_logins_refuses_one(fluss: str, table: Table) -> None:
    store = FlussStore(fluss, timeout_s=PATIENCE_S, login=RIGHT)
    with pytest.raises(StoreError, match="Fluss"):
        store.create(table)
    store.close()


def test_a_missing_password_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("STREAMHOUSE_FLUSS_PASSWORD", raising=False)
    with pytest.raises(EnvironmentProblem, match="password of me for Fluss is not set"):
        Login.of("me")
    assert Login.of(None) is None
    assert "right" not in repr(RIGHT)
