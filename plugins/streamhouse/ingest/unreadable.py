"""Why a message is no row."""


class UnreadableError(ValueError):
    """A message cannot be read, or a schema makes no rows.

    Callers that know the place make an error for people of it.

    Attributes:
        reason: As dead letters have it: `malformed`, `encoding`, `type` or `schema`.
    """

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
