"""Distinguishes requests of our own page from those that another site's page made a browser send."""

from fastapi import HTTPException, Request

OURS = "x-streamhouse"
"""Header that our own page sends with whatever changes something: another site's page cannot."""


def from_our_page(request: Request) -> None:
    """Refuse what a page of another site may have sent: it can neither set our header nor this content type.

    Raises:
        HTTPException: it may be one (403).
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    site = request.headers.get("sec-fetch-site", "same-origin")
    if request.headers.get(OURS) != "1" or kind != "application/json" or site not in {"same-origin", "none"}:
        raise HTTPException(403, "this request does not come from the page of Streamhouse")
