"""PyIceberg's way to files, which compares those of this machine with Hadoop's checksums before they are read."""

from pathlib import Path

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO  # noqa: TID253  this module is imported when it is needed only

from streamhouse.stores.iceberg.checksums import prove


class ProvenFileIO(PyArrowFileIO):
    """Of a catalog: metadata, manifests and data files are opened by it alone."""

    def new_input(self, location: str) -> PyArrowFile:
        """See PyIceberg.

        Raises:
            StoreError: the file is damaged.
            FileNotFoundError: it is gone.
        """
        scheme, _, path = self.parse_location(location)
        if scheme == "file":
            prove(Path(path))
        return super().new_input(location)
