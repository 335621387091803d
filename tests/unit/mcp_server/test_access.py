"""The token of clients over HTTP: shown once, kept as a hash that nobody else reads."""

import os
import subprocess
import sys

import pytest

from streamhouse.cli.main import main
from streamhouse.errors import TokenMissingError
from streamhouse.mcp_server.access import VARIABLE, file_of, is_token, known_hash, new_token
from tests.patience import PATIENCE_S
from tests.waits import at_most


def test_a_token_is_kept_as_its_hash(project):
    token = new_token(project)
    file = file_of(project)
    assert token not in file.read_text()
    assert file.stat().st_mode & 0o777 == 0o600
    known = known_hash(project, {})
    assert is_token(token, known)
    assert not is_token(token[:-1], known)
    assert not is_token("", known)
    assert not is_token("ä", known)
    assert not is_token(known, known), "who reads the file cannot enter"


def test_a_new_token_ends_the_one_before(project):
    first = new_token(project)
    assert not is_token(first, known_hash(project, {})) or new_token(project)
    second = new_token(project)
    assert is_token(second, known_hash(project, {}))
    assert not is_token(first, known_hash(project, {}))


def test_the_environment_wins(project):
    new_token(project)
    assert is_token("a-token-of-my-own", known_hash(project, {VARIABLE: "a-token-of-my-own"}))
    with pytest.raises(TokenMissingError, match="shorter"):
        known_hash(project, {VARIABLE: "short"})


def test_no_token_and_one_that_others_read(project):
    with pytest.raises(TokenMissingError, match="no token"):
        known_hash(project, {})
    new_token(project)
    file_of(project).chmod(0o640)
    with pytest.raises(TokenMissingError, match="mode 640"):
        known_hash(project, {})


def test_a_file_that_is_none_of_ours(project):
    file = file_of(project)
    file.parent.mkdir(exist_ok=True)
    makes = {
        "pipe": lambda: os.mkfifo(file, 0o600),
        "link to a pipe": lambda: (os.mkfifo(file.with_name("pipe"), 0o600), file.symlink_to("pipe")),
        "folder": file.mkdir,
        "device": lambda: file.symlink_to("/dev/zero"),
        "no text": lambda: (file.write_bytes(b"\xff" * 64), file.chmod(0o600)),
        "no hash": lambda: (file.write_bytes(b"z" * 64), file.chmod(0o600)),
        "endless": lambda: (file.write_bytes(b"a" * 5_000_000), file.chmod(0o600)),
    }
    for name, make in makes.items():
        make()
        with at_most(), pytest.raises(TokenMissingError) as refused:
            known_hash(project, {})
        assert "streamhouse mcp token" in str(refused.value), name
        file.rmdir() if name == "folder" else file.unlink()


def test_a_token_that_no_header_has(project):
    for odd in ("a-token-of-my-own\udcff", "a-token-of-my-own\r\nX: y"):
        with pytest.raises(TokenMissingError, match="no header has"):
            known_hash(project, {VARIABLE: odd})


def test_the_command_shows_it_once(project, capsys, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["mcp", "token", "--project", str(project.root)]) == 0
    out = capsys.readouterr()
    assert is_token(out.out.strip(), known_hash(project))
    assert out.out.strip() not in out.err


def test_http_without_a_token_is_refused(project, capsys, monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert main(["mcp", "--http", "--project", str(project.root)]) == 4
    assert "streamhouse mcp token" in capsys.readouterr().err


def test_options_of_http_without_http(project, capsys):
    assert main(["mcp", "--port", "8765", "--project", str(project.root)]) == 2
    assert "--http" in capsys.readouterr().err


def test_without_the_package_it_says_how_to_get_it(project):
    program = (
        "import sys; sys.modules['mcp'] = None; from streamhouse.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    words = [sys.executable, "-c", program, "mcp", "--project", str(project.root)]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=PATIENCE_S)
    assert (done.returncode, "pip install 'streamhouse[mcp]'" in done.stderr) == (4, True), done.stderr


def test_help_teaches(capsys):
    assert main(["mcp", "--help"]) == 0
    text = capsys.readouterr().out
    assert '"mcpServers"' in text
    assert "Authorization" in text
