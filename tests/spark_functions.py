"""The names that `SHOW FUNCTIONS` of Spark 4.1 lists, as recorded; a Spark test asks again."""

from pathlib import Path

RECORDED = Path(__file__).parent / "fixtures" / "spark_functions.txt"


def names() -> list[str]:
    """All of them."""
    return RECORDED.read_text().split()
