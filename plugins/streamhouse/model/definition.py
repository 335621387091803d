"""What people wrote of one flow: the text of its file and of the actions that it uses."""

from streamhouse.model.types import Frozen


class Definition(Frozen):
    """The files that a plan follows from, as they were when it was compiled.

    Attributes:
        flow: The name of the flow.
        files: Path from the project's folder → text.
    """

    flow: str
    files: dict[str, str]
