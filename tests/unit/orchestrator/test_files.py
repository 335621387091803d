"""The files of a bundle: what Python puts beside them is none of them."""

import py_compile

from streamhouse.orchestrator.compiled import Compiled
from streamhouse.orchestrator.files import files_in, files_of, with_project_error


def test_files_come_back_without_what_python_compiled_of_them(tmp_path):
    files = files_of(Compiled({}, {}, {"bad": "SH101 flows/é.yaml is no flow"}, autopilot=True))
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        if name.endswith(".py"):
            py_compile.compile(str(tmp_path / name), doraise=True)
    assert (tmp_path / "__pycache__").is_dir()
    assert files_in(tmp_path) == files
    assert with_project_error(files_in(tmp_path), "SH102").keys() > files.keys()
