"""A DAG bundle that compiles a project's flows: a version for each state of them, and a file for each flow."""

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from airflow.dag_processing.bundles.base import BaseDagBundle, BundleVersion  # noqa: TID253  for Airflow alone

from streamhouse.errors import StateConflictError, StreamhouseError
from streamhouse.install.whole_file import write_whole
from streamhouse.orchestrator.files import MANIFEST, files_in, files_of, with_project_error
from streamhouse.orchestrator.roots import ROOT_FILE

_NOT_COMPILED = "none"


class FlowBundle(BaseDagBundle):  # type: ignore[misc]
    """The flows of one project as DAGs.

    Each refresh compiles what changed. A version is a folder named by what it holds, so runs go on with the version
    they began with, and files that mean the same make no new one. A broken flow is a file that raises its error and
    leaves the others alone.
    """

    supports_versioning = True

    def __init__(self, *, project: str, **kwargs: Any) -> None:
        """Touches nothing yet.

        Args:
            project: Folder of the project.
            kwargs: Of every bundle.
        """
        super().__init__(**kwargs)
        self.project = Path(project).resolve()
        self._head = self.base_dir / "HEAD"

    @property
    def path(self) -> Path:
        """Where the files of this version are; nothing is there before the first refresh."""
        return Path(self.versions_dir) / self._version()

    def initialize(self) -> None:
        """See to it that the files are there.

        Raises:
            StateConflictError: they are of another machine, and this one's project has other flows by now.
        """
        if self.version is None:
            if not self._head.exists():
                self.refresh()
        elif not self.path.exists():
            self.refresh()
            if not self.path.exists():
                raise StateConflictError(
                    f"this machine has no version {self.version} of the flows in {self.project}",
                    hint="let all machines of Airflow share dag_bundle_storage_path, or start a new run",
                )
        super().initialize()

    def get_current_version(self) -> BundleVersion:
        """The version and what is in it: flows, and those that are broken."""
        version = self._version()
        return BundleVersion(version=version, data=json.loads((self.versions_dir / version / MANIFEST).read_text()))

    def refresh(self) -> None:
        """Compile the flows as they are now."""
        with self.lock():
            files = self._files()
            version = _digest(files)
            if not (self.versions_dir / version).exists():
                self._write(version, files)
            if not self._head.exists() or self._head.read_text() != version:
                write_whole(self._head, version)

    def _files(self) -> Mapping[str, str]:
        from streamhouse.orchestrator.compiled import compile_flows

        try:
            return files_of(compile_flows(self.project))
        except StreamhouseError as error:  # of the project as a whole: its flows stay as they were
            old_files = files_in(self.path) if self._head.exists() else {}
            old_files.pop(ROOT_FILE, None)
            return with_project_error(old_files, str(error))

    def _version(self) -> str:
        if self.version is not None:
            return str(self.version)
        return self._head.read_text() if self._head.exists() else _NOT_COMPILED

    def _write(self, version: str, files: Mapping[str, str]) -> None:
        self.versions_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(mkdtemp(prefix=".making-", dir=self.versions_dir))
        try:
            for name, text in {**files, ROOT_FILE: str(self.project)}.items():
                (folder / name).write_text(text, encoding="utf-8")
            folder.chmod(0o755)
            folder.rename(self.versions_dir / version)
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _digest(files: Mapping[str, str]) -> str:
    hasher = sha256()
    for name, text in sorted(files.items()):
        for part in (name, text):
            data = part.encode()
            hasher.update(len(data).to_bytes(8, "big"))
            hasher.update(data)
    return hasher.hexdigest()[:16]
