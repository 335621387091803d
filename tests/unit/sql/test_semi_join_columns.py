"""Columns of the right side of a SEMI or ANTI JOIN, which Spark shows to the ON of that join alone."""

import pytest

from streamhouse.errors import DefinitionErrors, UnknownColumnError
from tests.shaped_queries import checked

REFUSED = [
    "SELECT x.a, y.c FROM x LEFT SEMI JOIN y ON x.a = y.a",
    "SELECT x.a FROM x LEFT ANTI JOIN y ON x.a = y.a WHERE y.c > 1",
    "SELECT x.a FROM x LEFT SEMI JOIN y USING (a) ORDER BY y.c LIMIT 1",
    "SELECT y.* FROM x LEFT SEMI JOIN y ON x.a = y.a",
    "SELECT x.a FROM x LEFT SEMI JOIN y ON x.a = y.a JOIN z ON z.a = y.a",
    "SELECT (SELECT MAX(d) FROM z WHERE z.a = y.a) AS m FROM x LEFT SEMI JOIN y ON x.a = y.a",
    "SELECT x.a FROM x LEFT ANTI JOIN y AS q ON x.a = q.a GROUP BY x.a HAVING MAX(q.c) > 1",
]
TAKEN = [
    "SELECT * FROM x LEFT SEMI JOIN y USING (a)",
    "SELECT x.a FROM x LEFT SEMI JOIN y ON x.a = y.a AND EXISTS (SELECT 1 FROM z WHERE z.a = y.a)",
    "SELECT x.a FROM x LEFT ANTI JOIN y ON x.a = y.a WHERE EXISTS (SELECT 1 FROM y WHERE y.c = x.b)",
    "SELECT q.a FROM (SELECT y.a FROM y) AS q LEFT SEMI JOIN x ON q.a = x.a",
    "SELECT /*+ BROADCAST(q) */ x.a FROM x JOIN y AS q ON x.a = q.a",
]


def test_no_column_of_the_right_side_is_shown() -> None:
    for sql in REFUSED:
        with pytest.raises((UnknownColumnError, DefinitionErrors), match="JOIN shows no column of") as refused:
            checked(sql)
        assert "write JOIN where its columns are wanted" in str(refused.value), sql


def test_its_on_has_them_and_a_hint_names_a_table_of_the_from() -> None:
    for sql in TAKEN:
        assert checked(sql).sql, sql
