from datetime import timedelta

from streamhouse.engine.patience import Patience

TWO_MINUTES = timedelta(minutes=2)


def pauses(patience, seconds, *, each_s, epoch=7):
    """The pauses of failures one after the other, each of which takes so long, until it is enough or the time is up."""
    now, found = 0.0, []
    while now < seconds:
        now += each_s
        pause = patience.failed("away", epoch=epoch, now_s=now)
        if pause is None:
            return found, now
        found.append(pause)
        now += pause
    return found, None


def test_pauses_grow_to_a_few_seconds_and_end_when_patience_does():
    found, ended = pauses(Patience(TWO_MINUTES, dice=lambda: 1.0), 1000, each_s=0.01)
    assert found[:5] == [0.5, 1.0, 2.0, 4.0, 5.0]
    assert set(found[5:]) == {5.0}
    assert 120 <= ended < 126


def test_pauses_differ_by_half_at_most():
    found, _ = pauses(Patience(TWO_MINUTES, dice=lambda: 0.0), 1000, each_s=0.01)
    assert found[:5] == [0.25, 0.5, 1.0, 2.0, 2.5]


def test_a_server_that_takes_a_minute_to_fail_gets_some_attempts():
    found, ended = pauses(Patience(TWO_MINUTES), 1000, each_s=60)
    assert len(found) == 3
    assert ended > 240


def test_a_finished_epoch_begins_the_count_anew():
    patience = Patience(TWO_MINUTES, dice=lambda: 1.0)
    for epoch in range(100):
        found, ended = pauses(patience, 60, each_s=0.01, epoch=epoch)
        assert ended is None, f"gave up in epoch {epoch}, after failures that others had overcome"
        assert found[0] == 0.5


def test_what_is_over_is_told_once_with_the_first_reason():
    patience = Patience(TWO_MINUTES)
    assert patience.over(3) is None
    patience.failed("the server hung up", epoch=3, now_s=10.0)
    patience.failed("nobody listens", epoch=3, now_s=12.0)
    assert patience.over(3) is None
    trouble = patience.over(4)
    assert (trouble.since_s, trouble.attempts, trouble.text) == (10.0, 2, "the server hung up")
    assert patience.over(4) is None
