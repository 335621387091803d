import json
import shutil

import pytest

from streamhouse.engine.checkpoint import Checkpoint, EpochRemains, committed
from streamhouse.engine.source import offset_of
from streamhouse.engine.vector import Vector
from streamhouse.errors import StateConflictError
from streamhouse.spark.offset_log import newest_committed, newest_logged


def vector(epoch):
    return Vector(1_000 + epoch, {"orders": {"row": epoch}})


@pytest.fixture
def logs(tmp_path):
    """A checkpoint of epochs 3 to 6, of which the last one was not committed."""
    folder = tmp_path / "f" / "main" / "3"
    for log in ("offsets", "commits"):
        (folder / log).mkdir(parents=True)
    (folder / "metadata").write_text(json.dumps({"id": "1"}))
    for batch in range(4):
        (folder / "offsets" / str(batch)).write_text(f"v1\n{{}}\n{offset_of(vector(3 + batch))}")
    for batch in range(3):
        (folder / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')
    return folder


def begun(tmp_path, next_epoch, unfinished=None, noted=None, *, wrote=True):
    found = Checkpoint(tmp_path, "f", "main", next_epoch, vector(next_epoch - 1).positions)
    found.begin(unfinished, lambda: EpochRemains(noted, wrote))
    return found


def test_a_whole_checkpoint_goes_on(tmp_path, logs):
    assert begun(tmp_path, 6).path == logs
    assert begun(tmp_path, 6, unfinished=6).end_of(3) == vector(6)
    assert committed(logs.parent) == (5, vector(4), vector(5))


def test_a_log_that_is_removed_while_a_query_runs_is_missed(tmp_path, logs):
    checkpoint = begun(tmp_path, 6)
    assert checkpoint.has_log
    shutil.rmtree(tmp_path / "f")
    (checkpoint.path / "offsets").mkdir(parents=True)
    assert not checkpoint.has_log, "Spark writes the next offsets into a folder that it makes"


@pytest.mark.parametrize("file", ["offsets/0", "offsets/3", "commits/0", "commits/2", "metadata"])
@pytest.mark.parametrize("text", ["", "v1\n", "v1\n{\n", "\0\0"])
def test_a_damaged_one_is_made_again_from_the_state_store(tmp_path, logs, file, text):
    (logs / file).write_text(text)
    found = begun(tmp_path, 6)
    assert (found.base, found.path.exists(), logs.exists()) == (6, False, False)


@pytest.mark.parametrize("file", ["offsets/2", "commits/2", "metadata"])
def test_so_is_one_that_lacks_a_file_that_spark_asks_for(tmp_path, logs, file):
    (logs / file).unlink()
    (logs / "commits" / "1").unlink()
    assert begun(tmp_path, 6).base == 6


def test_an_epoch_that_is_half_done_keeps_its_end(tmp_path, logs):
    (logs / "commits" / "2").write_text("")
    found = begun(tmp_path, 6, unfinished=6)
    assert (found.base, found.epoch(0), found.end_of(0)) == (6, 6, vector(6))
    assert json.loads((found.path / "metadata").read_text())["id"]


def test_its_end_comes_from_the_tables_where_the_log_lost_it(tmp_path, logs):
    (logs / "offsets" / "3").write_text("")
    with pytest.raises(StateConflictError, match="epoch 6 began"):
        begun(tmp_path, 6, unfinished=6)
    assert logs.exists(), "nothing is removed then"
    assert begun(tmp_path, 6, unfinished=6, noted=vector(6)).end_of(0) == vector(6)
    shutil.rmtree(tmp_path / "f")
    assert begun(tmp_path, 6, unfinished=6, noted=vector(6)).end_of(0) == vector(6)


@pytest.mark.parametrize("lost", ["the last", "the last two"])
def test_an_epoch_whose_end_is_not_in_the_log_keeps_its_number(tmp_path, logs, lost):
    (logs / "offsets" / "3").unlink()  # as after a power cut: the state store was on the disk, Spark's file was not
    if lost == "the last two":
        (logs / "offsets" / "2").unlink()
        (logs / "commits" / "2").unlink()
    with pytest.raises(StateConflictError, match="epoch 6 began"):
        begun(tmp_path, 6, unfinished=6)
    found = begun(tmp_path, 6, unfinished=6, noted=vector(6))
    assert [found.epoch(0), found.end_of(0)] == [6, vector(6)], "else it counts as done, and its rows are lost"
    again = begun(tmp_path, 6, unfinished=6)
    assert (again.path, again.epoch(0), again.end_of(0)) == (found.path, 6, vector(6))


def test_a_log_that_is_damaged_tells_of_nothing_that_is_done(logs):
    (logs / "offsets" / "0").write_text("")
    assert committed(logs.parent) is None
    assert committed(logs / "nothing") is None


def test_an_epoch_that_wrote_nothing_may_have_other_rows(tmp_path, logs):
    (logs / "offsets" / "3").unlink()
    found = begun(tmp_path, 6, unfinished=6, wrote=False)
    assert found.epoch(3) == 6
    with pytest.raises(StateConflictError, match="its offset log and its note are lost"):
        begun(tmp_path, 6, unfinished=6)


def remove(*files):
    return lambda folder: [(folder / file).unlink() for file in files]


def cut(file, text=""):
    return lambda folder: (folder / file).write_text(text)


DAMAGES = {
    "nothing": remove(),
    "the newest of offsets": remove("offsets/3"),
    "the newest of commits": remove("commits/2"),
    "both": remove("offsets/3", "commits/2"),
    "the two newest of offsets": remove("offsets/3", "offsets/2"),
    "the two newest of both": remove("offsets/3", "offsets/2", "commits/2", "commits/1"),
    "the newest of offsets is empty": cut("offsets/3"),
    "the newest of offsets is cut": cut("offsets/3", "v1\n{}\n"),
    "the newest of offsets is of another version": cut("offsets/3", f"v9\n{{}}\n{offset_of(vector(6))}"),
    "the newest of commits is empty": cut("commits/2"),
    "an older one of offsets": remove("offsets/1"),
    "the one before the newest of offsets": remove("offsets/2"),
    "an older one of commits": remove("commits/0"),
    "an older one of offsets is empty": cut("offsets/1"),
    "the metadata": remove("metadata"),
    "all of offsets": remove(*(f"offsets/{number}" for number in range(4))),
    "all of commits": remove(*(f"commits/{number}" for number in range(3))),
    "everything": shutil.rmtree,
}


@pytest.mark.parametrize("is_begun", [True, False], ids=["in hand", "all done"])
def test_whatever_is_lost_of_a_log_no_epoch_is_passed_over(tmp_path, logs, is_begun):
    """Spark goes on at the epoch behind the last one that is finished, and one in hand has the end that it had."""
    whole = tmp_path / "whole"
    shutil.copytree(logs, whole)
    for name, damage in DAMAGES.items():
        shutil.rmtree(tmp_path / "f")
        shutil.copytree(whole, logs)
        damage(logs)
        for _ in range(2):  # it is cut off at once, and begins again
            found = begun(tmp_path, 6, 6 if is_begun else None, vector(6))
            first = newest_logged(found.path)
            done = newest_committed(found.path)
            batch = first if first > done else done + 1  # that Spark runs first
            if (
                not is_begun and found.epoch(batch) == 5
            ):  # the commit log lost it; it is not repeated, for its end is known
                assert found.end_of(batch) == vector(5), name
                continue
            assert found.epoch(batch) == 6, name
            if is_begun:
                assert found.end_of(batch) == vector(6), name
            elif first >= batch:
                assert found.end_of(batch) == vector(6), f"{name}: it was planned with other rows"


@pytest.mark.parametrize("next_epoch", [3, 4, 5, 6], ids=str)
def test_a_log_of_another_moment_than_the_state_store_is_made_again(tmp_path, logs, next_epoch):
    """As where both are older, and Spark's log is not: what it knows as done is not in the tables."""
    (logs / "commits" / "3").write_text('v1\n{"nextBatchWatermarkMs":0}')
    found = begun(tmp_path, next_epoch)
    assert (found.base, logs.exists()) == (next_epoch, next_epoch == 3 and found.path.exists())


def test_a_log_that_knows_another_end_of_the_last_epoch_is_made_again(tmp_path, logs):
    (logs / "offsets" / "2").write_text(f"v1\n{{}}\n{offset_of(vector(9))}")
    assert begun(tmp_path, 6).base == 6
