from collections import Counter

from streamhouse import errors


def test_a_code_means_one_error():
    classes = [e for e in vars(errors).values() if isinstance(e, type) and "code" in vars(e)]
    assert len(classes) > 50
    assert {code: n for code, n in Counter(e.code for e in classes).items() if n > 1} == {}
