"""Fetches the libraries of the page at their pinned versions: `python scripts/vendor_ui.py`.

`plugins/streamhouse/ui/static/vendor/versions.json` names them. To take a newer one, change its version there, run
this, look at the page, and commit what changed. Needs npm; the page itself needs no network.
"""

import hashlib
import json
import re
import subprocess
import tarfile
import tempfile
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[1] / "plugins/streamhouse/ui/static/vendor"
_SOURCE_MAP = re.compile(r"\n?(//# sourceMappingURL=\S+|/\*# sourceMappingURL=\S+ \*/)\s*$")


def fetch(package: str, version: str, folder: Path) -> Path:
    """The folder of an unpacked npm package; npm proves its checksum."""
    packed = subprocess.run(
        ["npm", "pack", f"{package}@{version}", "--json", "--pack-destination", folder],
        check=True,
        capture_output=True,
        text=True,
    )
    found = json.loads(packed.stdout)
    one = found[0] if isinstance(found, list) else next(iter(found.values()))
    target = folder / one["filename"].removesuffix(".tgz")
    with tarfile.open(folder / one["filename"]) as archive:
        archive.extractall(target, filter="data")
    return target / "package"


def as_served(text: str, renamed: dict[str, str]) -> str:
    """A file as browsers load it from us: packages by their file, no map that is not there."""
    for package, file in renamed.items():
        text = re.sub(rf"""(from\s*|import\s*)(["']){re.escape(package)}\2""", rf"\1\2./{file}\2", text)
    return _SOURCE_MAP.sub("\n", text)


def main() -> None:
    """Write every file again, and the checksum of each."""
    pinned = json.loads((VENDOR / "versions.json").read_text())
    renamed = {package: next(iter(one["files"])) for package, one in pinned.items()}
    with tempfile.TemporaryDirectory() as folder:
        for package, one in pinned.items():
            unpacked = fetch(package, one["version"], Path(folder))
            for name, source in one["files"].items():
                content = as_served((unpacked / source).read_text(), renamed)
                (VENDOR / name).write_text(content)
            first = next(iter(one["files"]))
            (VENDOR / f"{first}.LICENSE").write_text((unpacked / "LICENSE").read_text())
            one["license"] = json.loads((unpacked / "package.json").read_text())["license"]
            one["sha256"] = {
                name: hashlib.sha256((VENDOR / name).read_bytes()).hexdigest()
                for name in (*one["files"], f"{first}.LICENSE")
            }
    (VENDOR / "versions.json").write_text(json.dumps(pinned, indent=2) + "\n")


if __name__ == "__main__":
    main()
