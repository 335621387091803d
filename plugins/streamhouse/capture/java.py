"""The Debezium engine in a Java process of its own, which py4j starts; no line of Java is ours.

The Java process writes each batch as JSON into a file, from which Python takes it into the journal: with py4j, one call
for each event would cost more than the event.
"""

import json
import logging
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from threading import Event
from typing import TYPE_CHECKING, Any, TextIO

from streamhouse.errors import CaptureFailedError
from streamhouse.install.java import find_java
from streamhouse.install.private_file import write_private
from streamhouse.services.ports import free_ports

if TYPE_CHECKING:
    import subprocess

_HEAP = "-Xmx512m"
_END_S = 30.0
_LOG_SETTINGS = """\
status = error
appender.out.type = Console
appender.out.name = out
appender.out.layout.type = PatternLayout
appender.out.layout.pattern = %d{yyyy-MM-dd HH:mm:ss} %p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.out.ref = out
"""


class JavaCapture:
    """The Java process; everything in it dies with this process, however that ends."""

    def __init__(self, gateway: Any, process: "subprocess.Popen[bytes]") -> None:
        self._gateway = gateway
        self._process = process
        self._jvm: Any = gateway.jvm
        self._lock: Any = None

    @property
    def pid(self) -> int:
        """Of the Java process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def lock(self, file: Path) -> bool:
        """Take the lock of a journal, for as long as the Java process lives; False: another one has it."""
        channel = self._jvm.java.io.RandomAccessFile(str(file), "rw").getChannel()
        self._lock = channel.tryLock()
        return self._lock is not None

    def trust(self, authorities: Path, store: Path) -> None:
        """Let each server be checked against these authorities alone.

        Args:
            authorities: Certificates in PEM format.
            store: Gets them in the form in which Java reads them.

        Raises:
            CaptureFailedError: Java cannot read a certificate.
        """
        from py4j.protocol import Py4JJavaError

        java = self._jvm.java
        secret = self._gateway.new_array(self._jvm.char, 1)  # JKS demands one, though certificates are no secret
        secret[0] = "-"
        known = java.security.KeyStore.getInstance("JKS")
        known.load(None, None)
        try:
            parser = java.security.cert.CertificateFactory.getInstance("X.509")
            text = java.io.FileInputStream(str(authorities))
            try:
                found = parser.generateCertificates(text)
            finally:
                text.close()
        except Py4JJavaError as error:
            cause = str(error.java_exception.getMessage())
            message = f"Java cannot read the authorities in {authorities}: {cause}"
            raise CaptureFailedError(message, hint="leave only certificates in the file, in PEM format") from None
        for number, one in enumerate(found):
            known.setCertificateEntry(f"authority-{number}", one)
        output = java.io.FileOutputStream(str(store))
        known.store(output, secret)
        output.close()
        java.lang.System.setProperty("javax.net.ssl.trustStore", str(store))
        java.lang.System.setProperty("javax.net.ssl.trustStoreType", "JKS")

    def batches(self, file: Path) -> "JavaBatches":
        """Events as JSON, by way of a file."""
        return JavaBatches(self._jvm, file)

    def write_offset(self, file: Path, name: str, offset: Mapping[str, str | int]) -> None:
        """Write the file by which an engine of this name goes on at a place in the database's log."""
        offsets = self._jvm.java.util.HashMap()
        offsets.put(f'["{name}",{{"server":"{name}"}}]'.encode(), json.dumps(offset).encode())
        output = self._jvm.java.io.ObjectOutputStream(self._jvm.java.io.FileOutputStream(str(file)))
        output.writeObject(offsets)
        output.close()

    def start(self, settings: Mapping[str, str], take: Callable[[Any], None]) -> "JavaEngine":
        """Start an engine in a thread of the Java process.

        Args:
            settings: Of Debezium. They go through a socket of the loopback interface, not over a command line.
            take: See `BatchConsumer`.
        """
        consumer = BatchConsumer(take, self._gateway.detach)
        properties = self._jvm.java.util.Properties()
        for key, value in settings.items():
            properties.setProperty(key, value)
        format_ = self._jvm.java.lang.Class.forName("io.debezium.engine.format.Json")
        builder = self._jvm.io.debezium.engine.DebeziumEngine.create(format_).using(properties)
        ended = _Ended()
        engine = builder.notifying(consumer).using(ended).build()
        self._jvm.java.lang.Thread(engine, "debezium").start()
        return JavaEngine(engine, ended)


def offset_of(record: Any) -> dict[str, Any]:
    """The place in the database's log up to which an event was read, as the engine has it."""
    return dict(record.sourceRecord().sourceOffset())


def is_heartbeat(record: Any) -> bool:
    """Whether a record only says that the engine lives, and how far it is."""
    return str(record.destination()).startswith("__debezium-heartbeat.")


class JavaBatches:
    """Events of the engine as JSON.

    Args:
        jvm: Where they are.
        file: Need not exist. It has one batch at a time, and need not reach the disk.
    """

    def __init__(self, jvm: Any, file: Path) -> None:
        self._file = file
        write_private(file, "")
        self._out = jvm.java.io.FileOutputStream(str(file), True)
        self._buffer = jvm.java.io.BufferedOutputStream(self._out, 1 << 16)
        self._writer = _json_writer(jvm).writeValues(self._buffer)

    def lines(self, records: Any) -> list[bytes]:
        """The events, each as one line without its end."""
        self._writer.writeAll(records)
        self._writer.flush()
        found = [line for line in self._file.read_bytes().split(b"\n") if line]
        self._out.getChannel().truncate(0)
        return found

    def close(self) -> None:
        """Remove the file."""
        self._out.close()
        self._file.unlink(missing_ok=True)


class JavaEngine:
    """A running engine."""

    def __init__(self, engine: Any, ended: "_Ended") -> None:
        self._engine = engine
        self._ended = ended

    @property
    def has_ended(self) -> bool:
        """Whether it stopped by itself or was stopped."""
        return self._ended.over.is_set()

    @property
    def error(self) -> str:
        """Why it ended; empty: it was asked to, or runs."""
        return self._ended.error

    def close(self) -> None:
        """Let it end after the batch in hand."""
        from py4j.protocol import Py4JError

        with suppress(Py4JError, OSError):
            self._engine.close()
        self._ended.over.wait(_END_S)


class BatchConsumer:
    """What an engine calls with each batch.

    Args:
        take: Gets the list of events as Java has it; returns when they are on the disk. An error ends the engine,
            and no position is confirmed.
        release: Lets Java forget an object. An object of Java whose method was called refers to itself, so Python
            releases it when it next looks for cycles, and that may be 200,000 events later.
    """

    def __init__(self, take: Callable[[Any], None], release: Callable[[Any], None]) -> None:
        self._take = take
        self._release = release

    def handleBatch(self, records: Any, committer: Any) -> None:  # noqa: N802  Java's name
        """Debezium calls it."""
        try:
            self._take(records)
            last = records.get(records.size() - 1)
            committer.markProcessed(last)
            committer.markBatchFinished()
            self._release(last)
        finally:
            self._release(records)
            self._release(committer)

    def supportsTombstoneEvents(self) -> bool:  # noqa: N802
        """Debezium asks it."""
        return False

    class Java:
        """What py4j makes of it."""

        implements = ("io.debezium.engine.DebeziumEngine$ChangeConsumer",)


class _Ended:
    def __init__(self) -> None:
        self.over = Event()
        self.error = ""

    def handle(self, success: bool, message: str | None, error: Any) -> None:
        if not success:
            causes = [message or ""]
            while error is not None:
                causes.append(str(error.getMessage() or error.getClass().getSimpleName()))
                error = error.getCause()
            self.error = ": ".join(dict.fromkeys(cause.strip().rstrip(".") for cause in causes if cause.strip()))
        self.over.set()

    class Java:
        implements = ("io.debezium.engine.DebeziumEngine$CompletionCallback",)


@contextmanager
def java(jars: Sequence[Path], folder: Path, log: Path, masked: Callable[[str], str]) -> Iterator[JavaCapture]:
    """A Java process with these jars, which ends with the block.

    Args:
        jars: Its class path; py4j's is among them.
        folder: For scratch files of its own.
        log: Gets what it prints.
        masked: Takes secrets out of that.

    Raises:
        JavaMissingError: there is no Java.
        CaptureFailedError: it did not start, or is gone.
    """
    from py4j.java_gateway import launch_gateway
    from py4j.protocol import Py4JError

    logging.getLogger("py4j").setLevel(logging.CRITICAL)  # it logs each object that a dead Java has lost
    settings = folder / "log4j2.properties"
    settings.write_text(_LOG_SETTINGS, encoding="utf-8")
    options = [_HEAP, "-XX:-UsePerfData", "-XX:+UseSerialGC", f"-Dlog4j.configurationFile={settings}"]
    with log.open("a", encoding="utf-8", buffering=1) as opened:
        output = _MaskedLog(opened, masked)
        port, token, process = launch_gateway(
            jarpath=str(next(jar for jar in jars if jar.name.startswith("py4j"))),
            classpath=":".join(map(str, jars)),
            javaopts=[*options, "-Duser.timezone=UTC", "-Duser.language=en", "-Duser.country=US"],  # of messages
            java_path=str(find_java().executable),
            die_on_exit=True,  # Java reads what this process never writes, until its end
            enable_auth=True,
            return_proc=True,
            redirect_stdout=output,
            redirect_stderr=output,
            create_new_process_group=True,  # Ctrl-C is for this process, which ends the engines first
        )
        try:
            gateway = _both_ways(port, token.decode())
            yield JavaCapture(gateway, process)
            gateway.shutdown(raise_exception=False)
        except (Py4JError, OSError) as error:
            raise CaptureFailedError("the Java process of the capture is gone", hint=f"its log: {log}") from error
        finally:
            process.kill()
            process.wait()


class _MaskedLog(Queue[str]):
    """A log that gets no secrets. py4j has a queue filled by threads of its own, and a plain file by Java itself."""

    def __init__(self, file: TextIO, masked: Callable[[str], str]) -> None:
        super().__init__()
        self._file = file
        self._masked = masked

    def put(self, item: str, block: bool = True, timeout: float | None = None) -> None:  # noqa: ARG002
        """One line of what Java prints."""
        with suppress(ValueError):  # it is closed, and Java gone
            self._file.write(self._masked(item))


def _both_ways(port: int, token: str) -> Any:
    """A second door into the Java process, through which Java may call back, too, and both prove who they are."""
    from py4j.java_gateway import CallbackServerParameters, GatewayParameters, JavaGateway

    first = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    (chosen,) = free_ports(1)
    secret = secrets.token_urlsafe(32)
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=chosen, auth_token=secret, auto_convert=True),
        callback_server_parameters=CallbackServerParameters(
            port=0, auth_token=secret, daemonize=True, daemonize_connections=True
        ),
    )
    loopback = first.jvm.java.net.InetAddress.getLoopbackAddress()
    builder = getattr(first.jvm.py4j, "GatewayServer$GatewayServerBuilder")()
    builder = builder.javaPort(chosen).javaAddress(loopback).authToken(secret)
    listening = gateway.get_callback_server().get_listening_port()
    builder.callbackClient(listening, loopback, secret).build().start(True)
    first.close()
    return gateway


def _json_writer(jvm: Any) -> Any:
    """Jackson, which writes an event as `{"key":…,"value":…,"headers":[]}`: key and value are JSON already."""
    jackson = jvm.com.fasterxml.jackson
    mapper = jackson.databind.ObjectMapper()
    access = jackson.annotation.PropertyAccessor.FIELD
    visible = getattr(jackson.annotation, "JsonAutoDetect$Visibility").ANY
    mapper.setVisibility(access, visible)
    find = jvm.java.lang.Class.forName
    mapper.configOverride(find("org.apache.kafka.connect.source.SourceRecord")).setIsIgnoredType(True)
    text = find("java.lang.String")
    module = jackson.databind.module.SimpleModule()
    module.addSerializer(text, jackson.databind.ser.std.RawSerializer(text))
    mapper.registerModule(module)
    return mapper.writer().withRootValueSeparator("\n")
