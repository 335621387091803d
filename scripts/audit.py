"""Compares the locked Python packages with published advisories; says so when it has none to compare with.

Exit codes: 0 no advisory, 1 some, 2 it could not be told.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
UV = ROOT / ".tools" / "bin" / "uv"
AUDIT = "pip-audit==2.9.0"


def main() -> int:
    """Ask, and print the answer."""
    with tempfile.TemporaryDirectory(prefix="streamhouse-audit-") as name:
        locked, found = Path(name, "requirements.txt"), Path(name, "found.json")
        export = [UV, "export", "--frozen", "--all-extras", "--no-dev", "--no-emit-project", "--output-file", locked]
        done = subprocess.run([*export, "--quiet"], cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            return no_data(done.stderr)
        audit = [UV, "tool", "run", AUDIT, "--requirement", locked, "--disable-pip", "--no-deps", "--format", "json"]
        done = subprocess.run(
            [*audit, "--output", found, "--progress-spinner", "off"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        if not found.exists():  # it ends with 1 for both
            return no_data(done.stderr)
        return told(json.loads(found.read_text(encoding="utf-8")))


def told(document: dict[str, list[dict[str, object]]]) -> int:
    """Print what `pip-audit` found."""
    packages = document["dependencies"]
    skipped = [one for one in packages if one.get("skip_reason")]
    if len(skipped) == len(packages):
        return no_data(str(skipped[0]["skip_reason"]) if skipped else "there are no packages")
    hit = [one for one in packages if one.get("vulns")]
    for one in hit:
        for weakness in one["vulns"]:  # type: ignore[attr-defined]
            fixed = ", ".join(weakness["fix_versions"]) or "no version yet"
            sys.stdout.write(f"{one['name']} {one['version']}: {weakness['id']}, mended in {fixed}\n")
    for one in skipped:
        sys.stdout.write(f"{one['name']}: not compared: {one['skip_reason']}\n")
    sys.stdout.write(f"{len(packages) - len(skipped)} packages compared, {len(hit)} with advisories\n")
    if hit:
        return 1
    return 2 if skipped else 0


def no_data(why: str) -> int:
    """Print that nothing was compared."""
    lines = [line for line in why.splitlines() if line.strip()]
    sys.stderr.write(f"no data: nothing was compared. {lines[-1] if lines else 'no reason was given'}\n")
    return 2


if __name__ == "__main__":
    sys.exit(main())
