import os
from pathlib import Path

import pytest

from streamhouse.errors import ServiceStartError
from streamhouse.services.cluster import Ports
from streamhouse.services.process import Process
from streamhouse.services.record import Service, ServiceState, last_ports, load, save
from streamhouse.services.services import Services

US = Process.of(os.getpid())
GONE = US.model_copy(update={"began_s": US.began_s - 100})


def state(*processes, complete=True):
    services = tuple(
        Service(name=f"s{i}", process=p, port=1000 + i, log=Path(f"s{i}.log")) for i, p in enumerate(processes)
    )
    return ServiceState(fluss="localhost:1", services=services, complete=complete)


def test_what_was_saved_is_loaded(tmp_path):
    file = tmp_path / "services.json"
    save(file, state(US, GONE))
    assert load(file) == state(US, GONE)
    save(file, state(US))
    assert load(file) == state(US)
    assert [f.name for f in tmp_path.iterdir()] == ["services.json"]


def test_a_save_that_was_cut_off_leaves_the_old_state(tmp_path):
    file = tmp_path / "services.json"
    save(file, state(US))
    (tmp_path / "services.json.new").write_text('{"fluss": "localh')
    assert load(file) == state(US)


def test_no_file_means_that_nothing_runs(tmp_path):
    assert load(tmp_path / "services.json") is None


def test_a_file_that_nobody_understands_is_an_error_and_not_an_empty_one(tmp_path):
    file = tmp_path / "services.json"
    file.write_text('{"release": 2}')
    with pytest.raises(ServiceStartError, match="does not say which services run"):
        load(file)


@pytest.mark.parametrize(
    ("recorded", "alive"),
    [
        (state(US, US), True),
        (state(US, GONE), False),  # one died, or the machine was started anew and its pid is another's
        (state(US, complete=False), False),  # whoever started them died before they answered
        (state(complete=False), False),  # none run, and the last ones did not end in order
    ],
)
def test_services_are_up_only_when_all_were_and_still_are(recorded, alive):
    assert recorded.alive is alive


def test_status_of_a_machine_that_was_started_anew_shows_no_address(tmp_path):
    services = Services(tmp_path)
    services.folder.make()
    save(services.folder.state, state(GONE, GONE, GONE))
    status = services.status()
    assert status.endpoints is None
    assert [service.alive for service in status.services] == [False, False, False]


def test_down_after_a_crash_stops_no_stranger_and_remembers_the_crash(tmp_path):
    services = Services(tmp_path)
    services.folder.make()
    save(services.folder.state, state(GONE))
    assert not services.down()
    assert US.alive
    assert load(services.folder.state).services == ()
    assert services.status().services == ()


def test_status_and_down_of_a_project_without_services_create_nothing(tmp_path):
    services = Services(tmp_path)
    assert services.status().endpoints is None
    assert not services.down()
    assert list(tmp_path.iterdir()) == []


def test_the_last_ports_are_remembered_and_only_a_wish(tmp_path):
    file = tmp_path / "ports.json"
    assert last_ports(file) is None
    save(file, Ports(zookeeper=1, coordinator=2, tablet=3))
    assert last_ports(file) == Ports(zookeeper=1, coordinator=2, tablet=3)
    file.write_text("{")
    assert last_ports(file) is None


def needed(*users, pinned=False):
    return ServiceState(fluss="localhost:1", services=(), users=users, pinned=pinned)


def test_services_are_needed_until_the_last_user_that_lives_leaves():
    twice = needed().with_user(US).with_user(US)
    assert twice.without_user(US).is_needed
    assert not twice.without_user(US).without_user(US).is_needed
    assert not needed(GONE).is_needed
    assert needed(GONE, pinned=True).is_needed


def test_the_dead_are_forgotten_when_somebody_comes_or_leaves():
    assert needed(GONE).with_user(US).users == (US,)
    assert needed(GONE, US).without_user(US).users == ()


def test_a_file_of_an_earlier_release_tells_of_services_that_stay(tmp_path):
    file = tmp_path / "services.json"
    file.write_text('{"fluss": "localhost:1", "services": [], "complete": true}')
    assert load(file).pinned
