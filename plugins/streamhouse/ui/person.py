"""Who looks at the page."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """Who asks, and what that person may do besides looking."""

    name: str
    may_decide: bool
    may_query: bool

    @property
    def may_ask(self) -> bool:
        """Whether for flows: a proposal shows values of rows, so looking alone is not enough."""
        return self.may_decide or self.may_query
