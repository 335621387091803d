"""In its block pandas cannot be imported; outside of it, in other threads and where it is there already, it can."""

import sys
from threading import Thread

import pytest

from streamhouse.stores.without_pandas import without_pandas


@pytest.fixture
def never_imported(monkeypatch):
    for name in [one for one in sys.modules if one == "pandas" or one.startswith("pandas.")]:
        monkeypatch.delitem(sys.modules, name)


def test_it_is_absent_in_the_block_and_not_after_it(never_imported):
    finders = list(sys.meta_path)
    with without_pandas(), pytest.raises(ModuleNotFoundError) as caught:
        import pandas  # noqa: F401
    assert caught.value.name == "pandas"
    assert sys.meta_path == finders


def test_an_error_in_the_block_takes_the_finder_away_as_well(never_imported):
    finders = list(sys.meta_path)
    with pytest.raises(ZeroDivisionError), without_pandas():
        raise ZeroDivisionError
    assert sys.meta_path == finders


def test_who_imported_it_before_still_has_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", mine := type(sys)("pandas"))
    with without_pandas():
        import pandas
    assert pandas is mine


def test_other_packages_and_other_threads_are_left_alone(never_imported):
    finders, seen = list(sys.meta_path), []
    with without_pandas():
        import colorsys  # noqa: F401

    def elsewhere():
        with without_pandas():
            seen.append(list(sys.meta_path))

    thread = Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert seen == [finders]
