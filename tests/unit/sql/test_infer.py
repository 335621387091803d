"""Types as Spark gives them; `tests/integration/spark/test_types.py` compares the same file with Spark."""

import re

from streamhouse.sql import functions
from tests.golden import Golden
from tests.sql_corpus import FIXTURES, expressions, queries, typed


def test_types(golden: Golden) -> None:
    lines = [f"{e}  →  {typed(f'SELECT {e} AS v FROM lines').columns[0].type}" for e in expressions()]
    for sql in queries():
        lines += ["", sql, *(f"  {c.name} {c.type}{'' if c.nullable else ' not null'}" for c in typed(sql).columns)]
    golden("\n".join(lines) + "\n", FIXTURES / "types" / "types.txt")


def test_every_known_function_is_compared_with_spark() -> None:
    text = " ".join([*expressions(), *queries()]).lower()
    called = set(re.findall(r"([a-z_0-9]+) ?\(", text))
    known = functions.KNOWN
    assert known - called == set()
