import json
import sys

import pytest

from streamhouse.errors import Location, MissingPackageError, SourceError
from streamhouse.model.flow import Source
from streamhouse.model.table import Column
from streamhouse.orchestrator.engine_columns import EngineColumns
from streamhouse.orchestrator.engine_command import EngineCommand

AT = Location("flows/shop.yaml", 4, 3)


def engine(tmp_path, document, code=0):
    """A command that tells `document`, and writes down that it was called."""
    program = tmp_path / "engine.py"
    noted = f"open({str(tmp_path / 'calls')!r}, 'a').write('x')"
    program.write_text(f"import sys\n{noted}\nprint({json.dumps(document)!r})\nsys.exit({code})\n")
    return EngineColumns(tmp_path, lambda: EngineCommand((sys.executable, str(program))))


def source(**options):
    return Source(name="rows", kind="replay", options=options, at=AT)


def told(columns=(), error=None, **options):
    return {"flow": "shop", "source": "rows", "kind": "replay", "options": options, "columns": columns, "error": error}


def test_it_is_asked_once_for_all_sources(tmp_path):
    column = {"name": "id", "type": "bigint", "nullable": True}
    columns = engine(tmp_path, {"sources": [told([column], table="a"), told([], table="b")]})
    assert columns(source(table="a")) == (Column(name="id", type="bigint"),)
    assert columns(source(table="b")) == ()
    assert (tmp_path / "calls").read_text() == "x"


def test_an_error_has_the_place_of_the_source(tmp_path):
    error = {"code": "SH212", "message": "no such table", "file": None, "line": None, "column": None, "hint": "try x"}
    with pytest.raises(SourceError) as refused:
        engine(tmp_path, {"sources": [told(error=error, table="a")]})(source(table="a"))
    assert str(refused.value) == "flows/shop.yaml:4:3: SH212 no such table\n  hint: try x"


@pytest.mark.parametrize(("document", "code"), [({"sources": []}, 0), ({}, 0), ({"error": None}, 1)])
def test_an_engine_that_does_not_know_is_told(tmp_path, document, code):
    with pytest.raises(MissingPackageError, match="STREAMHOUSE_COMMAND"):
        engine(tmp_path, document, code)(source(table="a"))


def test_no_engine_is_told(tmp_path):
    with pytest.raises(MissingPackageError, match="/no/such"):
        EngineColumns(tmp_path, lambda: EngineCommand(("/no/such",)))(source())
