"""Files from the cache, when they are asked for: one by one at first, then all at once."""

from collections.abc import Iterable
from pathlib import Path

from streamhouse.project.cache.compiled import LateFiles
from streamhouse.project.cache.results import Cache

_KEYS = [f"key {number}" for number in range(50)]


class _Counted(Cache):
    asked = 0

    def get(self, keys: Iterable[str]) -> dict[str, bytes]:
        self.asked += 1
        return super().get(keys)


def _filled(folder: Path) -> _Counted:
    cache = _Counted(folder / "plan.db", b"code")
    for key in _KEYS:
        cache.put(key, key.encode())
    return cache


def test_each_is_what_is_kept_under_its_key(tmp_path: Path) -> None:
    late = LateFiles(_filled(tmp_path), _KEYS)
    assert [late.get(key) for key in reversed(_KEYS)] == [key.encode() for key in reversed(_KEYS)]
    assert [late.get(key) for key in _KEYS] == [key.encode() for key in _KEYS]
    assert late.get("unknown") is None


def test_many_take_few_questions(tmp_path: Path) -> None:
    cache = _filled(tmp_path)
    late = LateFiles(cache, _KEYS)
    for key in _KEYS:
        late.get(key)
    assert cache.asked < len(_KEYS) / 2
