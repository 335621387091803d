"""No test tells right from wrong by a clock or by chance: what is refused, what is not, and that there is none."""

from pathlib import Path

import pytest

from tests.gate.clock import ALLOWED, findings, refused
from tests.tables import each

ROOT = Path(__file__).parents[3]
MODULES = {str(file.relative_to(ROOT)): file.read_text() for file in sorted((ROOT / "tests").rglob("*.py"))}
HELPER = "tests/patience.py"

BAD = {
    "a clock": "import time\ndef test(): began = time.monotonic()",
    "a clock by another name": "import time as t\ndef test(): began = t.perf_counter_ns()",
    "a clock that is imported": "from time import process_time as cpu",
    "a clock that is handed on": "import time\ndef test(): guard(clock=time.thread_time)",
    "a clock of timeit": "from timeit import default_timer",
    "a difference": "import time\ndef test():\n    began = time.time()\n    work()\n    assert time.time() - began < 5",
    "a difference of datetimes": "from datetime import datetime, timedelta, UTC\ndef test():\n"
    "    began = datetime.now(UTC)\n    work()\n    assert datetime.now(UTC) - began < timedelta(seconds=5)",
    "a difference by way of names": "import time\ndef test():\n    began = time.time_ns()\n    work()\n"
    "    end = time.time_ns()\n    passed = end - began\n    per_row = passed / 10\n    assert per_row < 5",
    "the least of some differences": "import time\ndef test():\n    found = []\n    for _ in range(3):\n"
    "        began = time.time()\n        work()\n        found.append(time.time() - began)\n    assert min(found) < 5",
    "a difference in two at once": "import time\ndef test():\n    began, rows = time.time(), 3\n"
    "    assert 1 < time.time() - began < 5",
    "processor time": "import os\ndef test():\n    before = os.times()\n    work()\n"
    "    assert os.times().user - before.user < 5",
    "a name for time that passed": "def test(): assert run().elapsed < 5",
    "a name with a unit": "def test(took_ms): assert took_ms <= 50",
    "a difference that raises": "import time\ndef test():\n    began = time.time()\n    work()\n"
    "    if time.time() - began > 5:\n        raise AssertionError",
    "a difference that fails": "import time, pytest\ndef test():\n    began = time.time()\n    work()\n"
    "    if time.time() - began > 5:\n        pytest.fail('slow')",
    "a moment to come": "import time\ndef test():\n    end = time.time() + 5\n    work()\n    assert time.time() < end",
    "a wait of its own": "from datetime import datetime, timedelta\ndef test():\n"
    "    end = datetime.utcnow() + timedelta(seconds=5)\n    while datetime.utcnow() < end:\n        look()",
    "a sleep": "import time\ndef test(): time.sleep(0.5)",
    "a sleep by another name": "from time import sleep as rest\ndef test(): rest(1)",
    "a sleep in a loop of events": "import asyncio\nasync def test(): await asyncio.sleep(0.3)",
    "a sleep of unknown length": "import time\ndef test(after_s): time.sleep(after_s)",
    "a sleep by a constant of the module": "import time\nREST_S = 3\ndef test(): time.sleep(REST_S)",
    "an event that is a sleep": "from threading import Event\ndef test(): Event().wait(2)",
    "an event that is a sleep of unknown length": "def test(over, chance): over.wait(chance.random())",
    "a limit of a process": "def test(process): assert process.wait(300) == 0",
    "a limit by name": "def test(process): out, _ = process.communicate(timeout=60)",
    "a limit of a run": "import subprocess\ndef test(): subprocess.run(['x'], timeout=10)",
    "a limit of a thread": "def test(thread):\n    thread.join(5)\n    assert not thread.is_alive()",
    "a limit of a request": "import httpx\ndef test(): httpx.get('x', timeout=5.0)",
    "a limit by a constant of the module": "LIMIT_S = 30\ndef test(done): done.result(LIMIT_S)",
    "a limit that is computed": "LIMIT_S = 30\ndef test(done): done.result(timeout=2 * LIMIT_S)",
    "a draw of the module": "import random\ndef test(): assert random.random() < 1",
    "a draw that is imported": "from random import shuffle\ndef test(): shuffle([1, 2])",
    "a generator without a seed": "import random\nchance = random.Random()",
    "a generator that is imported, without a seed": "from random import Random\nchance = Random(None)",
    "a generator of the system": "from random import SystemRandom\nchance = SystemRandom()",
    "a generator of numpy without a seed": "import numpy as np\nchance = np.random.default_rng()",
    "a draw of numpy": "import numpy\nx = numpy.random.rand(3)",
}  # fmt: skip

GOOD = {
    "a recorded moment": "from datetime import datetime, UTC\ndef test(row):\n    began = datetime.now(UTC)\n"
    "    write()\n    assert began <= row().at <= datetime.now(UTC)",
    "a moment of long ago": "from datetime import datetime, timedelta, UTC\ndef test(row):\n"
    "    old = datetime.now(UTC) - timedelta(days=3)\n    assert row.at > old",
    "a clock of the test": "def test(clock):\n    begun = clock.now\n    work()\n    assert clock.now - begun >= 10",
    "a clock by its name in a text": "def test(monkeypatch): monkeypatch.setattr('a.time.monotonic', lambda: 3)",
    "a class that stands for a clock": "class Clock:\n    def monotonic(self):\n        return self.now",
    "a short rest": "import time\ndef test(): time.sleep(0.05)",
    "a short wait for what is not to come": "def test(over): assert not over.wait(0.1)",
    "a rest that ends with an event": "def work(over, pause_s):\n    while not over.wait(pause_s):\n        write()",
    "patience": "from tests.patience import PATIENCE_S\ndef test(process):\n    process.wait(PATIENCE_S)\n"
    "    process.communicate(timeout=PATIENCE_S)\n    process.wait(timeout=2 * PATIENCE_S)",
    "no limit": "def test(process, thread):\n    process.wait()\n    thread.join()",
    "a join of words": "def test(): assert ', '.join(['a', 'b']) == 'a, b'",
    "a program of a child": "CHILD = 'import time; time.sleep(600)'",
    "a seed": "import random\nchance = random.Random(7)\nchance.shuffle([1, 2])",
    "a seed of numpy": "import numpy as np\nchance = np.random.default_rng(7)",
    "a parameter of that name": "def some(random): return random.choice('ab')",
    "a value of that name": "def test(): assert epoch(took=5).took == 5",
}  # fmt: skip


def test_there_is_none_in_the_tests() -> None:
    found = [f"{name}:{one}" for name, text in MODULES.items() if name != HELPER for one in refused(name, text)]
    assert found == []


@each("name", BAD)
def test_it_is_found(name: str) -> None:
    assert findings(BAD[name])


@pytest.mark.parametrize("name", GOOD)
def test_it_is_not_found(name: str) -> None:
    assert findings(GOOD[name]) == []


def test_a_finding_tells_its_line() -> None:
    assert findings("import time\n\n\ntime.sleep(3)") == ["4: sleeps 3 s"]


def test_each_exception_is_needed() -> None:
    def lines_found(name: str) -> list[str]:
        lines = MODULES[name].splitlines()
        return [lines[int(one.partition(":")[0]) - 1] for one in findings(MODULES[name])]

    assert [(name, part) for name, part in ALLOWED if not any(part in line for line in lines_found(name))] == []


def test_the_helper_is_the_one_module_that_may() -> None:
    assert findings(MODULES[HELPER])
