"""Each test of the contract that the gate runs for the reader of Paimon is there."""

from pathlib import Path

from tests.contract.conftest import READS


def test_each_name_is_that_of_a_file_or_of_a_test():
    files = sorted((Path(__file__).parents[2] / "contract").glob("test_*.py"))
    text = "\n".join(file.read_text() for file in files)
    stems = {file.stem for file in files}
    assert [name for name in sorted(READS) if name not in stems and f"def {name}(" not in text] == []
