"""What a person should know, and which stops nothing."""

from dataclasses import dataclass

from streamhouse.errors import Location


@dataclass(frozen=True)
class Notice:
    """Something that is allowed but rarely meant; it stops nothing."""

    message: str
    at: Location
    hint: str | None = None

    def document(self) -> dict[str, str | int | None]:
        """Plain data for `--json`."""
        at = self.at
        return {"message": self.message, "file": at.file, "line": at.line, "column": at.column, "hint": self.hint}

    def __str__(self) -> str:
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{self.at}: note {self.message}{hint}"
