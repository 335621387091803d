"""Whether one text leads through a graph in two ways, and in how many. Pure.

Each node takes letters, given as bits; two nodes take a letter in common where `&` of them is not 0.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

_MOST_STEPS = 300_000
_LONGEST_TEXT = 200

Ways = Sequence[Mapping[int, int]]
"""Of each node: next node → number of ways."""


class TooLargeError(Exception):
    """To look at all of it takes too long."""


def has_two_ways(letters: Sequence[int], ways: Ways) -> bool:
    """Whether two different ways lead from some node back to it over one text.

    Example:
        >>> has_two_ways([1, 1], [{0: 1, 1: 1}, {0: 1}]), has_two_ways([1, 2], [{0: 1, 1: 1}, {0: 1}])
        (True, False)

    Raises:
        TooLargeError: the graph has too many pairs of nodes.
    """
    left = _MOST_STEPS
    for circle in _circles(letters, ways):
        inside = {at: [to for to in ways[at] if to in circle and letters[to]] for at in circle}
        if any(ways[at][to] > 1 for at in circle for to in inside[at]):
            return True
        left -= (steps := _steps_of_pairs(letters, inside, left))[1]
        if steps[0]:
            return True
    return False


def _steps_of_pairs(letters: Sequence[int], inside: Mapping[int, list[int]], most: int) -> tuple[bool, int]:
    """Whether there are two ways within a circle, in which each node leads to each; and the steps that it took."""
    begin = next(iter(inside))
    before: dict[tuple[int, int], list[tuple[int, int]]] = {}
    todo, seen, steps = [(begin, begin)], {(begin, begin)}, 0
    while todo:
        one, other = now = todo.pop()
        steps += len(inside[one]) * len(inside[other])
        if steps > most:
            raise TooLargeError
        for pair in ((a, b) for a in inside[one] for b in inside[other] if letters[a] & letters[b]):
            before.setdefault(pair, []).append(now)
            if pair not in seen:
                seen.add(pair)
                todo.append(pair)
    back, todo = {(begin, begin)}, [(begin, begin)]
    while todo:
        for pair in before.get(todo.pop(), ()):
            if pair not in back:
                back.add(pair)
                todo.append(pair)
    return any(a != b for a, b in back), steps


def _circles(letters: Sequence[int], ways: Ways) -> Iterator[dict[int, None]]:
    """The strongly connected parts of the graph that have a way back, after Tarjan."""
    number: dict[int, int] = {}
    lowest: dict[int, int] = {}
    open_nodes: dict[int, None] = {}
    for root in range(len(letters)):
        if root in number or not letters[root]:
            continue
        path = [(root, iter(ways[root]))]
        number[root] = lowest[root] = len(number)
        open_nodes[root] = None
        while path:
            at, following = path[-1]
            to = next((one for one in following if letters[one] and (one not in number or one in open_nodes)), None)
            if to is not None and to not in number:
                number[to] = lowest[to] = len(number)
                open_nodes[to] = None
                path.append((to, iter(ways[to])))
            elif to is not None:
                lowest[at] = min(lowest[at], number[to])
            else:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[at])
                if lowest[at] == number[at]:
                    yield from _closed(at, open_nodes, ways)


def _closed(root: int, open_nodes: dict[int, None], ways: Ways) -> Iterator[dict[int, None]]:
    found: dict[int, None] = {}
    while root not in found:
        found[open_nodes.popitem()[0]] = None
    if len(found) > 1 or root in ways[root]:
        yield found


def ways_of_worst_text(letters: Sequence[int], ways: Ways, first: Mapping[int, int], bits: int, enough: int) -> int:
    """How many ways there are at most to take a text, or its beginning: of the text whose next letter adds most.

    Args:
        letters: Of each node.
        ways: Between nodes.
        first: Node → ways that a text may begin with.
        bits: How many letters there are.
        enough: More need not be counted.

    Example:
        >>> ways_of_worst_text([1, 1, 3], [{1: 1, 2: 1}, {2: 1}, {}], {0: 1, 1: 1}, 2, 100)
        3

    Raises:
        TooLargeError: there are too many ways between nodes.
    """
    now, most, steps = Counter(first), 0, 0
    for _ in range(_LONGEST_TEXT):
        totals = [0] * bits
        for at, number in now.items():
            for bit in _bits(letters[at]):
                totals[bit] += number
        best = max(range(bits), key=totals.__getitem__, default=0)
        if not totals or not totals[best] or most > enough:
            break
        most = max(most, totals[best])
        following: Counter[int] = Counter()
        for at, number in now.items():
            if letters[at] >> best & 1:
                steps += len(ways[at])
                for to, more in ways[at].items():
                    following[to] += number * more
        if steps > _MOST_STEPS:
            raise TooLargeError
        now = following
    return most


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
