import pytest

from streamhouse.services.server_log import last_words

CRASH = """\
2026-11-21 07:48:18.154 WARN x.WorkerService - Unexpected exception
java.lang.NullPointerException: because "this.zkDb" is null
\tat x.ZooKeeperServer.removeCnxn(ZooKeeperServer.java:1)
2026-11-21 07:48:18.169 ERROR x.ZooKeeperServerMain - Unexpected exception, exiting abnormally
x.FlussException: Failed to start
\tat x.Y.z(Y.java:1)
Caused by: java.io.FileNotFoundException: /a/snapshot.0 (Not a directory)
\tat java.base/java.io.FileOutputStream.open0(Native Method)
\t... 7 more
2026-11-21 07:48:18.173 ERROR x.ServiceUtils - Exiting JVM with code 1

"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (CRASH, "java.io.FileNotFoundException: /a/snapshot.0 (Not a directory)"),
        (
            "2026-11-21 07:48:18.173 ERROR x.Y - no port\n2026-11-21 07:48:18.174 INFO x.Y - bye\n",
            "ERROR x.Y - no port",
        ),
        (
            "Picked up JAVA_TOOL_OPTIONS: -Da\nError: not found\nCaused by: java.lang.ClassNotFoundException: Nope\n",
            "java.lang.ClassNotFoundException: Nope",
        ),
        (
            "Error occurred during initialization of VM\nToo small maximum heap\n",
            "Error occurred during initialization of VM",
        ),
        ("all well\n2026-11-21 07:48:18.174 INFO x.Y - bye\n", "INFO x.Y - bye"),
        (
            CRASH + "2026-11-21 07:48:18.175 WARN x.NIOServerCnxn - Close of session 0x0\n"
            "java.io.IOException: ZooKeeperServer not running\n\tat x.Y.z(Y.java:1)\n",
            "java.io.FileNotFoundException: /a/snapshot.0 (Not a directory)",
        ),
        (
            "2026-11-21 07:48:18.154 WARN x.Y - odd\njava.io.IOException: not there\n",
            "java.io.IOException: not there",
        ),
        ("", "it wrote nothing to its log"),
        ("\n\n", "it wrote nothing to its log"),
    ],
)
def test_the_most_telling_line_is_found(tmp_path, text, words):
    (tmp_path / "log").write_text(text)
    assert last_words(tmp_path / "log") == words


def test_of_a_long_log_only_the_end_is_read(tmp_path):
    (tmp_path / "log").write_bytes(b"x.OldException: long ago\n" + b"\xff filler line\n" * 100_000 + b"the end\n")
    assert last_words(tmp_path / "log") == "the end"


def test_no_log_is_told(tmp_path):
    assert last_words(tmp_path / "log") == "it wrote no log"
