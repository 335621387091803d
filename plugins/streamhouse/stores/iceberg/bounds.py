"""What keeps the metadata of an Iceberg table small: each commit writes all of it, and readers need the newest."""

from typing import Any

METADATA = {
    "write.metadata.delete-after-commit.enabled": "true",
    # A reader that learned of a version before this many commits finds it no more, and asks again.
    "write.metadata.previous-versions-max": "10",
}
"""Properties of every table; each committer obeys them, a REST catalog by itself."""


def bound_metadata(stored: Any) -> None:
    """Set the properties of a table that was made without them; what somebody else chose stays."""
    missing = {key: value for key, value in METADATA.items() if not stored.properties().containsKey(key)}
    if not missing:
        return
    update = stored.updateProperties()
    for key, value in missing.items():
        update.set(key, value)
    update.commit()
    stored.refresh()
