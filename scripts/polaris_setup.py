"""Makes the catalog of the cold tables in a new Polaris; one that is there is left as it is (docker-compose.yml).

Reads the variables by which a project reaches the catalog: see docs/production.md.
"""

import json
import os
import sys
from http import HTTPStatus
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

_TIMEOUT_S = 30


def main() -> None:
    """Create the catalog, and let who owns it read and write its tables."""
    base = os.environ["STREAMHOUSE_COLD_CATALOG"]
    name = os.environ["STREAMHOUSE_COLD"]
    management = f"{base.removesuffix('/api/catalog')}/api/management/v1/catalogs"
    token = _token(base)
    made = _call(token, "POST", management, _catalog(name), unless=HTTPStatus.CONFLICT)
    grant = {"grant": {"type": "catalog", "privilege": "CATALOG_MANAGE_CONTENT"}}
    _call(token, "PUT", f"{management}/{name}/catalog-roles/catalog_admin/grants", grant)
    sys.stdout.write(f"catalog {name} {'is made' if made else 'was there'}\n")


def _token(base: str) -> str:
    client, _, secret = os.environ["STREAMHOUSE_COLD_CREDENTIAL"].partition(":")
    form = {
        "grant_type": "client_credentials",
        "client_id": client,
        "client_secret": secret,
        "scope": os.environ["STREAMHOUSE_COLD_SCOPE"],
    }
    with urlopen(Request(f"{base}/v1/oauth/tokens", data=urlencode(form).encode()), timeout=_TIMEOUT_S) as answer:
        return str(json.load(answer)["access_token"])


def _catalog(name: str) -> dict[str, object]:
    place = "s3://lake/cold"
    storage = {
        "storageType": "S3",
        "endpoint": os.environ["STREAMHOUSE_S3_ENDPOINT"],
        "region": os.environ.get("STREAMHOUSE_S3_REGION", "us-east-1"),
        "pathStyleAccess": True,
        "stsUnavailable": True,  # it lends no keys then: the engine has its own
        "allowedLocations": [place],
    }
    properties = {
        "default-base-location": place,
        "polaris.config.drop-with-purge.enabled": "true",  # a table that is built anew leaves no files behind
    }
    catalog = {"name": name, "type": "INTERNAL", "properties": properties, "storageConfigInfo": storage}
    return {"catalog": catalog}


def _call(token: str, method: str, url: str, body: dict[str, object], unless: HTTPStatus | None = None) -> bool:
    """Whether it was done; False: the answer was `unless`."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = Request(url, data=json.dumps(body).encode(), headers=headers, method=method)
    try:
        with urlopen(request, timeout=_TIMEOUT_S):
            return True
    except HTTPError as error:
        if error.code == unless:
            return False
        sys.exit(f"{method} {url}: {error.code} {error.read().decode(errors='replace')}")


if __name__ == "__main__":
    main()
