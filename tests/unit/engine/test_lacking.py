"""What an epoch says of files that lack columns: once for each file, by the first segment that reads the source."""

from types import SimpleNamespace

from streamhouse.engine.inputs import SourceInput, lacking
from streamhouse.engine.vector import Vector
from streamhouse.ingest.files import open_files

FIRST = SimpleNamespace(name="first", reads=("rows",))
SECOND = SimpleNamespace(name="second", reads=("rows", "ods.t"))
PLAN = SimpleNamespace(segments=(FIRST, SECOND))


def test_the_first_segment_says_it_once(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("a\n3\n4\n")
    source = open_files({"path": "*.csv"}, tmp_path)
    inputs = {"rows": SourceInput(source)}

    def said(segment, start, end):
        return [*lacking(PLAN, segment, inputs, Vector(1, {"rows": start}), Vector(2, {"rows": end, "ods.t": {}}))]

    assert said(FIRST, {}, {"1.csv": 1}) == []
    assert said(FIRST, {"1.csv": 1}, {"1.csv": 1, "2.csv": 1}) == ["2.csv lacks the column b: it is NULL in its rows"]
    assert said(FIRST, {"2.csv": 1}, {"2.csv": 2}) == []
    assert said(SECOND, {}, {"1.csv": 1, "2.csv": 2}) == []
    (tmp_path / "2.csv").unlink()
    assert said(FIRST, {}, {"2.csv": 2}) == []
