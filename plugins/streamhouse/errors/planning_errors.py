"""SH7xx: a wish, or what it was read as, cannot be carried out."""

from collections.abc import Collection

from streamhouse.errors.base import Location, StreamhouseError, did_you_mean


class PlanningError(StreamhouseError):
    """A wish, or the Request that it was read as, cannot become a proposal.

    Cause:
        The language model refused the wish, or the wish asks for something that a flow cannot compute.

    Example:
        SH700 the tables have no weather data

    Remedy:
        Say the wish in other words, or write the action by hand.
    """

    code = "SH700"
    exit_code = 4


class UnknownWordError(PlanningError):
    """A Request names a table, a column, a measure or another part that does not exist.

    Cause:
        The Request was written for other tables, or by a model that guessed a name.

    Example:
        SH701 there is no table 'dwd.sale'
          hint: did you mean 'dwd.sales'?

    Remedy:
        Correct the name. `streamhouse describe` shows what tables and columns mean.
    """

    code = "SH701"

    def __init__(self, message: str, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        listed = f"there are: {', '.join(known)}" if known else None
        super().__init__(message, at=at, hint=did_you_mean(name, known, listed))


class RequestTypeError(PlanningError):
    """A Request compares, adds or groups values whose types do not allow it.

    Cause:
        For example a sum of text, a comparison of a number with a date, or a month of a column that is
        not a time.

    Example:
        SH702 the sum of product asks for numbers, and it is string
          hint: count it, or take the lowest or highest product

    Remedy:
        Choose another column or another function.
    """

    code = "SH702"


class FanOutError(PlanningError):
    """A join of a Request may find several rows for one row, so that sums would count rows twice.

    Cause:
        The joined table has no primary key, or the join does not use the whole key.

    Example:
        SH703 ods.notes has no primary key, so a join may find several of its rows, and sums would count rows twice
          hint: give ods.notes a primary key, or ask for rows that have or lack rows of ods.notes

    Remedy:
        Join by the whole key, declare the key, or aggregate before the join.
    """

    code = "SH703"


class UnitError(PlanningError):
    """A Request adds or compares numbers of different units.

    Cause:
        The meaning of two columns gives different units, such as cents and percent.

    Example:
        SH704 price is in cents and discount in percent: they cannot be added
          hint: convert one of them: multiply or divide it by a number

    Remedy:
        Convert one of them, or correct `unit` in the header of the action.
    """

    code = "SH704"


class RequestShapeError(PlanningError):
    """The parts of a Request do not fit together.

    Cause:
        A part that another part needs is missing, is given twice, or has a value it cannot have.

    Example:
        SH705 two columns of the result are called 'revenue'
          hint: rename one of them

    Remedy:
        Correct the part that the message names. docs/asking.md describes a Request.
    """

    code = "SH705"

    def __init__(self, message: str, *, at: Location | None = None, hint: str | None = None) -> None:
        super().__init__(message, at=at, hint=hint or "correct the part that the message names")


class UnknownProposalError(PlanningError):
    """No proposal has this id.

    Cause:
        The id is misspelt, or the proposal was removed: the state store keeps the newest 500 proposals that were
        written into files, and the newest 500 others.

    Example:
        SH706 unknown proposal 'p1'
          hint: see: streamhouse proposals

    Remedy:
        `streamhouse proposals` lists all proposals.
    """

    code = "SH706"

    def __init__(self, name: str, known: Collection[str], *, at: Location | None = None) -> None:
        super().__init__(
            f"unknown proposal '{name}'", at=at, hint=did_you_mean(name, known, "see: streamhouse proposals")
        )


class ProposalOutdatedError(PlanningError):
    """The files of the project changed after the proposal was made.

    Cause:
        A file that the proposal edits was edited meanwhile. Writing it would lose that edit.

    Example:
        SH707 flows/orders.yaml has changed since the proposal was made
          hint: ask again; streamhouse ask WISH

    Remedy:
        Ask again with the same wish.
    """

    code = "SH707"


class ProposalFailedError(PlanningError):
    """A check of a proposal failed, so its files are not written.

    Cause:
        The files do not compile, an example of an action fails, or a run on a sample gives other rows in
        epochs than in a batch.

    Example:
        SH708 nothing was written: examples: other rows came out than were expected
          hint: say the wish in another way, or look at the files: streamhouse ask WISH --write DIR

    Remedy:
        Say the wish in other words, or write the files to another folder and correct them by hand.
    """

    code = "SH708"


class WriteTargetError(PlanningError):
    """The files of a proposal cannot be written to this place.

    Cause:
        `--write` names a file, or a folder of the project that Streamhouse reads: `actions`, `flows`, `dags` or
        `.streamhouse`. Or a folder that new files belong into, such as `actions/aggregate`, is a link.

    Example:
        SH710 actions is in actions/ of the project, whose files Streamhouse reads
          hint: name a folder for a review, such as /tmp/review; without one, the files go into the project

    Remedy:
        Use `--write` without a folder to write into the project, or name a folder outside of it. Replace a link
        by a folder.
    """

    code = "SH710"


class ModelAwayError(PlanningError):
    """The language model that the settings name cannot be asked.

    Cause:
        The packages for models are not installed, its key is missing, its address would send the key
        unencrypted, or it does not answer.

    Example:
        SH709 the packages for models are not installed
          hint: pip install 'streamhouse[models]'

    Remedy:
        Follow the hint, or leave `models` out of `streamhouse.yaml`: wishes are then read without a model.
    """

    code = "SH709"


class UnaskedAnswerError(PlanningError):
    """An answer belongs to no question about the wish.

    Cause:
        The phrase of the answer is misspelt, or the wish has no such question.

    Example:
        SH711 the answer to 'sale' belongs to no question
          hint: the wish has a question about: 'sales'

    Remedy:
        Take the phrase from the question as it is shown, or say the wish in other words.
    """

    code = "SH711"

    def __init__(self, phrase: str, questions: Collection[str], *, at: Location | None = None) -> None:
        about = ", ".join(f"'{one}'" for one in questions)
        hint = (
            f"the wish has a question about: {about}"
            if questions
            else "the wish has no question: say it as you mean it"
        )
        super().__init__(f"the answer to '{phrase}' belongs to no question", at=at, hint=hint)
