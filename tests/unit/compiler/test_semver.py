"""The version that an edit of an action calls for."""

from streamhouse.compiler.diff import diff
from streamhouse.model.outcome import VersionAdvice
from tests.unit.compiler.test_outcomes import base, plans, project


def edited(tmp_path, action, old, new, *, version=None):
    before = base()["shop"]
    folder = tmp_path / "after"
    project(folder)
    file = folder / "actions" / f"{action}.sql"
    text = file.read_text()
    assert old in text
    text = text.replace(old, new)
    if version is not None:
        text = text.replace(f"action: {action}\n", f"action: {action}\nversion: {version}\n")
    file.write_text(text)
    return diff(before, plans(folder)["shop"], {}).versions


def advice(found, action):
    [one] = [advice for advice in found if advice.action == action]
    return one


def test_a_comment_is_no_edit_of_the_action(tmp_path):
    assert edited(tmp_path, "sums_by_store", "WHERE cents > 1", "-- all\nWHERE cents > 1") == ()


def test_another_text_of_the_same_meaning_is_a_patch(tmp_path):
    found = edited(tmp_path, "sums_by_store", "WHERE cents > 1", "WHERE 1 < cents")
    assert advice(found, "sums_by_store").least == "1.0.1"


def test_an_added_column_is_minor(tmp_path):
    found = edited(tmp_path, "large_orders", "note FROM", "note, cents FROM")
    assert advice(found, "large_orders").least == "1.1.0"


def test_another_filter_is_major(tmp_path):
    found = edited(tmp_path, "large_orders", "cents > 100", "cents > 200")
    one = advice(found, "large_orders")
    assert isinstance(one, VersionAdvice)
    assert (one.was, one.now, one.least) == ("1.0.0", "1.0.0", "2.0.0")
    assert "the filter changed" in one.why


def test_a_version_that_says_enough_is_left_alone(tmp_path):
    assert edited(tmp_path, "large_orders", "cents > 100", "cents > 200", version="2.0.0") == ()
