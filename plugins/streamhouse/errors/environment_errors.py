"""SH3xx: the machine or the environment lacks something."""

from pathlib import Path

from streamhouse.errors.base import StreamhouseError


class EnvironmentProblem(StreamhouseError):  # noqa: N818  Python has an EnvironmentError already
    """The machine, the cluster or a right on a file is not as a command needs it.

    Cause:
        A command needs something outside the project that is missing or refused: the right to write a
        file, a program, a secret, a Spark cluster that answers.

    Example:
        SH300 Permission denied: /srv/shop/.streamhouse/state.db
          hint: check who owns the file and that you may write to its folder

    Remedy:
        Provide what the message names, then run the same command again.
    """

    code = "SH300"
    exit_code = 4


class JavaMissingError(EnvironmentProblem):
    """There is no Java on this machine, or the one found is too old for Spark.

    Cause:
        Spark and Fluss run on Java 17 or later. Streamhouse looks at JAVA_HOME first, then at PATH.

    Example:
        SH301 Java 17 or later is needed: no Java found: JAVA_HOME is not set and PATH has no 'java'
          hint: install a JDK 17 or later (Debian: apt install openjdk-17-jre-headless), or set JAVA_HOME to one

    Remedy:
        Install a JDK 17 or later, or set JAVA_HOME to the folder of one.
    """

    code = "SH301"


class PortTakenError(EnvironmentProblem):
    """Another process uses the port that a service of Streamhouse needs.

    Cause:
        The port of the page, of the MCP server or of an embedded service is in use, or this user may not
        open it (ports below 1024).

    Example:
        SH302 port 8765 of 127.0.0.1 cannot be used: Address already in use
          hint: stop what listens there, choose another port, or leave the port out: a free one is found

    Remedy:
        Leave out `--port`, or give another one.
    """

    code = "SH302"


class DiskFullError(EnvironmentProblem):
    """The disk has no room where the project keeps its data.

    Cause:
        A disk or a quota is full. An epoch that could not be written is repeated later, so no row is lost.

    Example:
        SH303 no room left on the disk
          hint: free some disk space, then run again

    Remedy:
        Free disk space. `streamhouse upkeep` removes old snapshots of warm and cold tables, and
        `.streamhouse/cache` may be deleted while nothing runs.
    """

    code = "SH303"


class JarDownloadError(EnvironmentProblem):
    """A jar could not be fetched, or its checksum is wrong.

    Cause:
        The first run fetches the jars of Spark's connectors and of Fluss through Ivy. The network or the
        mirror does not answer, or it delivered another file.

    Example:
        SH304 org.apache.fluss:fluss-server:1.0.0 arrived damaged: it is no zip file
          hint: try again

    Remedy:
        Check the network and try again, or name a mirror's Ivy settings file as `ivy_settings` in
        `streamhouse.yaml`. If the checksum differs, ask who runs the mirror.
    """

    code = "SH304"
    retryable = True


class ServiceStartError(EnvironmentProblem):
    """A service that Streamhouse starts ended, or did not answer in time.

    Cause:
        Fluss, ZooKeeper or a part of Airflow did not come up. The reason is in its log.

    Example:
        SH305 the tablet server ended at its start: OutOfMemoryError: Java heap space
          hint: its log: /srv/shop/.streamhouse/services/logs/tablet.log

    Remedy:
        Read the log that the hint names. `streamhouse services status` shows which services run.
    """

    code = "SH305"


class MissingPackageError(EnvironmentProblem):
    """A Python package of an optional extra is not installed.

    Cause:
        A command needs a package that only an extra of Streamhouse installs, such as `engine` or `kafka`.

    Example:
        SH306 the Python package 'pyspark' is not installed
          hint: pip install 'streamhouse[engine]'

    Remedy:
        Install the extra that the hint names, in the environment that runs the command.
    """

    code = "SH306"


class NotAProjectError(EnvironmentProblem):
    """Neither this folder nor a folder above it is a Streamhouse project.

    Cause:
        A project is a folder with `flows/` or `streamhouse.yaml`. The command was run elsewhere.

    Example:
        SH307 /srv/data is no Streamhouse project: it has neither flows/ nor streamhouse.yaml
          hint: make one with 'streamhouse init DIR'

    Remedy:
        Change to the folder of the project, or name it with `--project DIR`.
    """

    code = "SH307"


class FolderNotEmptyError(EnvironmentProblem):
    """The folder for a new project already has files in it.

    Cause:
        `streamhouse init` does not mix a new project with files that are already there.

    Example:
        SH308 shop is not empty: it holds actions, flows
          hint: name a new folder

    Remedy:
        Give `streamhouse init` the name of a folder that does not exist or is empty.
    """

    code = "SH308"


class ProjectCopiedError(EnvironmentProblem):
    """The project is a copy, and its state names files and processes of the original.

    Cause:
        A project was copied together with its `.streamhouse` folder, and the original still exists. Two
        projects that use one state would write to the same tables.

    Example:
        SH309 /srv/test is a copy of /srv/shop: the files and services that its state names are those of that project
          hint: make it a project of its own: streamhouse adopt --project /srv/test; or remove /srv/test/.streamhouse

    Remedy:
        Run `streamhouse adopt` in the copy, or remove its `.streamhouse` folder to start without data.
    """

    code = "SH309"

    def __init__(self, root: Path, original: Path) -> None:
        super().__init__(
            f"{root} is a copy of {original}: the files and services that its state names are those of that project",
            hint=f"make it a project of its own: streamhouse adopt --project {root}; or remove {root}/.streamhouse",
        )


class TokenMissingError(EnvironmentProblem):
    """The MCP server does not start over HTTP, because clients could not identify themselves.

    Cause:
        There is no token for clients, it is too short, or its file can be read by other users.

    Example:
        SH310 there is no token for clients over HTTP
          hint: make one: streamhouse mcp token

    Remedy:
        Run `streamhouse mcp token` and give its output to the clients.
    """

    code = "SH310"
