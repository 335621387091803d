"""Figures of a scored set: coverage, precision, refusals, time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from .answers import Judged


@dataclass(frozen=True)
class Figures:
    """Counts over some wishes, and seconds of planning."""

    to_answer: int
    answered: int  # accepted, of those to answer
    right: int
    wrongly_accepted: int  # of those to refuse
    to_refuse: int
    refused_right: int
    failed: int  # with an exception
    seconds: tuple[float, ...]

    @property
    def accepted(self) -> int:
        """All wishes that got a query."""
        return self.answered + self.wrongly_accepted

    @property
    def coverage(self) -> float | None:
        """Accepted of those to answer; None: there are none."""
        return self.answered / self.to_answer if self.to_answer else None

    @property
    def precision(self) -> float | None:
        """Right of all that were accepted, also of those that were to be refused; None: none was."""
        return self.right / self.accepted if self.accepted else None

    def __str__(self) -> str:
        parts = []
        if self.to_answer:
            parts.append(f"coverage {_percent(self.coverage)} ({self.answered}/{self.to_answer})")
        if self.accepted:
            parts.append(f"precision {_percent(self.precision)} ({self.right}/{self.accepted})")
        if self.to_refuse:
            parts.append(f"refusals right {self.refused_right}/{self.to_refuse}")
        if self.failed:
            parts.append(f"exceptions {self.failed}")
        parts.append(f"{1000 * median(self.seconds):.0f} ms per wish, at most {1000 * max(self.seconds):.0f}")
        return ", ".join(parts)

    def as_dict(self) -> dict[str, float | int | None]:
        """For `--json`."""
        return {
            "wishes": self.to_answer + self.to_refuse,
            "to_answer": self.to_answer,
            "accepted": self.accepted,
            "answered": self.answered,
            "right": self.right,
            "coverage": self.coverage,
            "precision": self.precision,
            "to_refuse": self.to_refuse,
            "refused_right": self.refused_right,
            "wrongly_accepted": self.wrongly_accepted,
            "exceptions": self.failed,
            "median_seconds": median(self.seconds),
            "most_seconds": max(self.seconds),
        }


def figures(judged: Iterable[Judged]) -> Figures:
    """Counted over at least one wish."""
    every = list(judged)
    answers = [one for one in every if one.wish.refuse is None]
    refusals = [one for one in every if one.wish.refuse is not None]
    return Figures(
        to_answer=len(answers),
        answered=sum(one.answer.accepted for one in answers),
        right=sum(one.right for one in answers),
        wrongly_accepted=sum(one.answer.accepted for one in refusals),
        to_refuse=len(refusals),
        refused_right=sum(one.right for one in refusals),
        failed=sum(bool(one.answer.error) for one in every),
        seconds=tuple(one.answer.seconds for one in every),
    )


def by_kind(judged: Sequence[Judged]) -> dict[str, Figures]:
    """Kind of question, or of refusal → its figures, by name."""
    groups = sorted({one.wish.group for one in judged})
    return {group: figures(one for one in judged if one.wish.group == group) for group in groups}


def by_schema(judged: Sequence[Judged]) -> dict[str, Figures]:
    """Project → its figures, in the order in which they were scored."""
    names = dict.fromkeys(one.wish.schema_name for one in judged)
    return {name: figures(one for one in judged if one.wish.schema_name == name) for name in names}


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f} %"
