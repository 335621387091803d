"""A public function that raises says so: its docstring has a `Raises:` section that names each class."""

from pathlib import Path
from textwrap import indent

import pytest

from tests.unit.docs.raising import raising

PACKAGE = Path(__file__).parents[3] / "plugins" / "streamhouse"
NOT_YET: set[str] = set()  # "module function"; it may only get smaller


@pytest.fixture(scope="module")
def functions():
    return raising((path.relative_to(PACKAGE).as_posix(), path.read_text()) for path in sorted(PACKAGE.rglob("*.py")))


def test_every_public_function_that_raises_documents_it(functions):
    assert len(functions) > 200
    missing = {f"{one.module} {one.name}": sorted(one.missing) for one in functions if one.missing}
    assert {name: errors for name, errors in missing.items() if name not in NOT_YET} == {}
    assert NOT_YET - missing.keys() == set()


RAISES = '    """Do.\n\n    Raises:\n        OddError: it is odd.\n    """\n'
REFERS = 'class B:\n    def f(self):\n        """See `A.f`."""\n        raise OddError\n'
IN_CLASS = indent(f"def f(self):\n{RAISES}", "    ")


@pytest.mark.parametrize(
    ("source", "missing"),
    [
        ("def f():\n    raise OddError(1)\n", {"OddError"}),
        (f"def f():\n{RAISES}    raise OddError(1)\n", set()),
        (f"def f():\n{RAISES}    raise EvenError(1)\n", {"EvenError"}),
        ("class A:\n    async def f(self):\n        raise lib.OddError\n", {"OddError"}),
        ('def f():\n    """Raises: OddError."""\n    if 1:\n        raise OddError\n', {"OddError"}),
        ("def f():\n    try:\n        raise KeyError(1)\n    except LookupError:\n        pass\n", set()),
        ("def f():\n    try:\n        g()\n    except KeyError:\n        raise OddError from None\n", {"OddError"}),
        ("def f():\n    try:\n        g()\n    except KeyError as error:\n        raise\n", set()),
        ("def f():\n    raise refused(1)\n", {"an error"}),
        (f"def f():\n{RAISES}    raise refused(1)\n", set()),
        ("def _f():\n    raise OddError\n\nclass _A:\n    def f(self):\n        raise OddError\n", set()),
        ("def f():\n    def g():\n        raise OddError\n", set()),
        ('@click.command()\ndef f():\n    """Help."""\n    raise OddError\n', set()),
        (f"class A:\n{IN_CLASS}\n{REFERS}", set()),
    ],
)
def test_what_is_found(source, missing):
    assert {name for one in raising([("m.py", source)]) for name in one.missing} == missing
