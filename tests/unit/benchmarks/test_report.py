from benchmarks.method.report import Bound, Figure


def test_a_ratio_says_by_how_much_ours_is_better():
    seconds = Figure("age", "s", 2.0, {"stock": 12.0}, Bound(times={"stock": 6}))
    speed = Figure("drain", "rows/s", 2.0, {"stock": 1.0}, Bound(times={"stock": 2}), more_is_better=True)
    assert (seconds.factor("stock"), speed.factor("stock")) == (6, 2)
    assert seconds.misses == speed.misses == []


def test_what_misses_its_target_says_so():
    figure = Figure("age", "s", 2.0, {"stock": 11.9}, Bound(at_most=1.9, times={"stock": 6, "tuned": 4}))
    assert figure.misses == ["≤ 1.9 s", "6x better than stock"]
    assert str(figure) == "age: ours 2 s, stock 11.9 (5.95x); target ≤ 1.9, stock 6x, tuned 4x: MISSED"


def test_not_a_number_misses_every_bound():
    assert Figure("age", "s", float("nan"), bound=Bound(at_most=1, at_least=1)).misses == ["≤ 1 s", "≥ 1 s"]
