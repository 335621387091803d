"""Answers to the questions of a wish: each takes the place of the words that its question is about. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence

from streamhouse.errors import UnaskedAnswerError
from streamhouse.planner.request import Question, Understood


def with_answers(
    wish: str,
    answers: Mapping[str, str],
    read: Callable[[str], Understood],
    *,
    asked: Sequence[Question] = (),
    may_be_of_model: bool = False,
) -> str:
    """The wish with the choice in place of the phrase of each question.

    The choice of a question without a phrase is at the end. An answer may raise another question, which another answer
    is for. Of a wish that is refused, any words of it can be said in another way.

    Args:
        wish: As it was said.
        answers: Phrase of a question → the words that take its place.
        read: Reads a wish offline.
        asked: What was asked already, offline or by a model.
        may_be_of_model: Whether a model may have asked; its questions are not recorded.

    Raises:
        UnaskedAnswerError: an answer is to no question.
    """
    left = {_plain(phrase): (phrase, choice) for phrase, choice in answers.items()}
    questions = tuple(asked)
    while left:
        mine = [one for one in questions if _plain(one.phrase) in left]
        if not mine:
            understood = read(wish)
            questions = understood.questions
            mine = [one for one in questions if _plain(one.phrase) in left]
            if not mine:
                is_free = may_be_of_model or bool(understood.refusal)
                return _in_other_words(wish, list(left.values()), questions, is_free=is_free)
        _, choice = left.pop(_plain(mine[0].phrase))
        wish = _answered(wish, mine[0], choice)
        questions = tuple(one for one in questions if one is not mine[0])
    return wish


def with_live_choices(wish: str, understood: Understood, read: Callable[[str], Understood]) -> Understood:
    """The same, whose questions offer only choices that lead on: neither to a refusal nor to the same question.

    Args:
        wish: As it was read.
        understood: What it was read as.
        read: Reads a wish offline.
    """
    questions = tuple(
        one.model_copy(
            update={"choices": tuple(choice for choice in one.choices if _leads_on(wish, one, choice, read))}
        )
        for one in understood.questions
    )
    return understood.model_copy(update={"questions": questions})


def _leads_on(wish: str, question: Question, choice: str, read: Callable[[str], Understood]) -> bool:
    found = read(_answered(wish, question, choice))
    return not found.refusal and question.text not in {one.text for one in found.questions}


def _answered(wish: str, question: Question, choice: str) -> str:
    return _replaced(wish, question.phrase, choice) or f"{wish} {choice}"


def _in_other_words(
    wish: str, answers: Sequence[tuple[str, str]], questions: Sequence[Question], *, is_free: bool
) -> str:
    """The wish with words of it said in another way, where that is allowed."""
    for phrase, choice in answers:
        found = _replaced(wish, phrase, choice, whole_words=True) if is_free else None
        if found is None:
            raise UnaskedAnswerError(phrase, [one.phrase for one in questions])
        wish = found
    return wish


def _replaced(wish: str, phrase: str, choice: str, *, whole_words: bool = False) -> str | None:
    """The wish with the first place of a phrase replaced; None: it has none."""
    words = phrase.split()
    if not words:
        return None
    pattern = r"\s+".join(map(re.escape, words))
    found = re.search(rf"(?<!\w){pattern}(?!\w)", wish, re.IGNORECASE | re.UNICODE)
    if found is None and not whole_words:  # a question may be about a part of a word
        found = re.search(pattern, wish, re.IGNORECASE | re.UNICODE)
    return None if found is None else f"{wish[: found.start()]}{choice}{wish[found.end() :]}"


def _plain(phrase: str) -> str:
    return " ".join(phrase.lower().split())
