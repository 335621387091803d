from streamhouse.change.audit import Profile, audit
from streamhouse.model.action import Expectation
from streamhouse.model.review import AuditVerdict

PAID = {"paid": Expectation(check="cents > 0")}
NEVER = {"paid": Expectation(check="cents > 0", on_violation="fail")}


def verdicts(new, old, expect=PAID, *, keyed=True, same_rows=True):
    return {c.name: c.verdict for c in audit(new, old, expect, keyed=keyed, same_rows=same_rows)}


def test_what_is_as_before_passes():
    one = Profile(100, violations={"paid": 3})
    assert set(verdicts(one, one).values()) == {AuditVerdict.PASSED}


def test_an_empty_table_must_not_serve_where_rows_do():
    assert verdicts(Profile(0), Profile(1), {})["rows"] is AuditVerdict.FAILED
    assert verdicts(Profile(0), Profile(1), {}, same_rows=False)["rows"] is AuditVerdict.FAILED
    assert verdicts(Profile(0), Profile(0), {})["rows"] is AuditVerdict.PASSED
    assert "rows" not in verdicts(Profile(0), None, {})  # nothing serves


def test_far_fewer_or_more_rows_are_told_where_a_row_means_the_same():
    for rows, verdict in ((49, "warning"), (50, "passed"), (200, "passed"), (201, "warning")):
        assert verdicts(Profile(rows), Profile(100), {})["rows"] == verdict, rows
    assert (
        verdicts(Profile(7), Profile(100), {}, same_rows=False)["rows"] is AuditVerdict.PASSED
    )  # an hour is not a minute


def test_a_key_is_there_once_and_whole():
    assert verdicts(Profile(9, null_keys=1), None, {})["key"] is AuditVerdict.FAILED
    [check] = audit(Profile(9, null_keys=2, double_keys=1), None, {}, keyed=True, same_rows=True)
    assert check.text == "2 rows have a NULL in the key; 1 keys have more than one row"
    assert verdicts(Profile(9, null_keys=1), None, {}, keyed=False) == {}


def test_violations_are_held_against_what_serves():
    old = Profile(100, violations={"paid": 10})
    for rows, verdict in ((9, "passed"), (10, "passed"), (15, "warning"), (16, "failed")):
        assert verdicts(Profile(100, violations={"paid": rows}), old)["expect.paid"] == verdict, rows


def test_rows_kept_out_of_a_table_violate_as_well():
    old = Profile(100, violations={"paid": 0})
    new = Profile(80, quarantine_rows=20, violations={"paid": 20})
    assert new.share("paid") == 0.2
    assert verdicts(new, old)["expect.paid"] is AuditVerdict.FAILED


def test_with_nothing_to_hold_them_against_violations_are_only_told():
    assert verdicts(Profile(100, violations={"paid": 50}), None)["expect.paid"] is AuditVerdict.WARNING
    assert verdicts(Profile(100, violations={"paid": 50}), Profile(100))["expect.paid"] is AuditVerdict.WARNING
    assert verdicts(Profile(100, violations={"paid": 1}), None)["expect.paid"] is AuditVerdict.PASSED


def test_what_fails_an_epoch_must_not_serve():
    one = Profile(100, violations={"paid": 1})
    assert verdicts(one, one, NEVER)["expect.paid"] is AuditVerdict.FAILED
