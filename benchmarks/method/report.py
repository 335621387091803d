"""Prints what was measured: ours, each peer, the ratio and the target."""

from collections.abc import Mapping
from dataclasses import dataclass, field

PEERS = ("stock", "tuned")


@dataclass(frozen=True)
class Bound:
    """What a figure should be. `at_most` and `at_least` bound ours; `times` bounds peer ÷ ours (or the inverse)."""

    at_most: float | None = None
    at_least: float | None = None
    times: Mapping[str, float] = field(default_factory=dict)  # peer → least factor by which ours is better


@dataclass(frozen=True)
class Figure:
    """One measured quantity of all arms."""

    name: str
    unit: str
    ours: float
    peers: Mapping[str, float] = field(default_factory=dict)
    bound: Bound = Bound()
    more_is_better: bool = False

    def factor(self, peer: str) -> float:
        """By which factor ours is better than `peer`."""
        better, worse = (self.ours, self.peers[peer]) if self.more_is_better else (self.peers[peer], self.ours)
        return better / worse if worse else float("inf")

    @property
    def misses(self) -> list[str]:
        """The targets that were not reached, in words."""
        bound, found = self.bound, []
        if bound.at_most is not None and not self.ours <= bound.at_most:
            found.append(f"≤ {bound.at_most:g} {self.unit}")
        if bound.at_least is not None and not self.ours >= bound.at_least:
            found.append(f"≥ {bound.at_least:g} {self.unit}")
        wanted = [(peer, times) for peer, times in bound.times.items() if peer in self.peers]
        return found + [f"{times:.3g}x better than {peer}" for peer, times in wanted if not self.factor(peer) >= times]

    def __str__(self) -> str:
        parts = [f"ours {_text(self.ours)} {self.unit}"]
        for peer, value in self.peers.items():
            parts.append(f"{peer} {_text(value)} ({self.factor(peer):.2f}x)")
        bound = self.bound
        targets = [f"≤ {bound.at_most:g}"] if bound.at_most is not None else []
        targets += [f"≥ {bound.at_least:g}"] if bound.at_least is not None else []
        targets += [f"{peer} {times:.3g}x" for peer, times in bound.times.items()]
        text = f"{self.name}: {', '.join(parts)}"
        if targets:
            text += f"; target {', '.join(targets)}: {'met' if not self.misses else 'MISSED'}"
        return text


def _text(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def show(figures: list[Figure]) -> None:
    """Print each figure on a line of its own."""
    for figure in figures:
        print(figure, flush=True)
