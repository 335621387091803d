"""`spark.conf` in streamhouse.yaml takes what costs time and memory, and nothing that runs code or opens a door."""

import pytest

from streamhouse.doors.setting import Kind
from streamhouse.doors.spark import SPARK_CONF
from streamhouse.errors import StreamhouseError
from streamhouse.model.spark_conf import why_ours
from streamhouse.project.settings import load_settings

VALUES = {Kind.SIZE: "4g", Kind.NUMBER: "2", Kind.BOOLEAN: "true", Kind.DURATION: "30s"}


@pytest.mark.parametrize("name", sorted(SPARK_CONF.taken))
def test_what_is_taken_has_a_kind_and_a_reason(tmp_path, name):
    setting = SPARK_CONF.taken[name]
    assert setting.why
    assert setting.kind in (*VALUES, Kind.CHOICE)  # no text: each value has a form that names nothing
    assert why_ours(name) is None
    value = VALUES.get(setting.kind) or setting.choices[0]
    (tmp_path / "streamhouse.yaml").write_text(f"spark: {{conf: {{{name}: {value}}}}}\n")
    assert load_settings(tmp_path, {}).spark.conf == {name: value}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.jars", "/tmp/a.jar"),
        ("spark.jars.packages", "a:b:1"),
        ("spark.plugins", "a.B"),
        ("spark.sql.extensions", "a.B"),
        ("spark.pyspark.python", "/tmp/x"),
        ("spark.pyspark.driver.python", "/tmp/x"),
        ("spark.python.daemon.module", "x"),
        ("spark.python.worker.module", "x"),
        ("spark.driver.extraJavaOptions", "-XX:OnError=x"),
        ("spark.executor.extraJavaOptions", "-javaagent:x"),
        ("spark.driver.defaultJavaOptions", "x"),
        ("spark.driver.extraClassPath", "/tmp"),
        ("spark.driver.extraLibraryPath", "/tmp"),
        ("spark.driver.bindAddress", "0.0.0.0"),
        ("spark.driver.host", "0.0.0.0"),
        ("spark.ui.enabled", "true"),
        ("spark.ui.filters", "a.B"),
        ("spark.sql.catalog.x", "a.B"),
        ("spark.sql.catalog.cold.uri", "http://evil"),
        ("spark.sql.catalogImplementation", "hive"),
        ("spark.serializer", "a.B"),
        ("spark.io.compression.codec", "a.B"),
        ("spark.shuffle.manager", "a.B"),
        ("spark.executorEnv.LD_PRELOAD", "x.so"),
        ("spark.yarn.appMasterEnv.LD_PRELOAD", "x.so"),
        ("spark.kubernetes.container.image", "evil"),
        ("spark.kubernetes.driver.volumes.hostPath.x.options.path", "/"),
        ("spark.hadoop.fs.s3a.aws.credentials.provider", "a.B"),
        ("spark.hadoop.fs.file.impl", "a.B"),
        ("spark.eventLog.dir", "file:///tmp"),
        ("spark.local.dir", "/tmp"),
        ("spark.metrics.conf", "/tmp/x"),
        ("spark.resources.discoveryPlugin", "a.B"),
        ("spark.driver.resource.gpu.discoveryScript", "/tmp/x"),
        ("spark.sql.session.timeZone", "Asia/Tokyo"),
        ("spark.nobody.knows", "1"),
        ("SPARK.JARS", "x"),
        ("spark.driver.memory", "1g -XX:OnOutOfMemoryError=x"),
        ("spark.driver.memory", "1g\\nspark.jars=x"),
        ("spark.sql.shuffle.partitions", "two"),
    ],
)
def test_what_runs_code_or_opens_a_door_is_for_who_runs_it(tmp_path, name, value):
    (tmp_path / "streamhouse.yaml").write_text(f'fluss: a:1\nspark:\n  conf:\n    "{name}": "{value}"\n')
    with pytest.raises(StreamhouseError) as refused:
        load_settings(tmp_path, {})
    assert str(refused.value).startswith("streamhouse.yaml:4:5: SH101 spark.conf: ")
    assert refused.value.hint


def test_who_runs_it_may_give_more(tmp_path):
    given = '{"spark.jars": "/srv/a.jar", "spark.nobody.knows": 1}'
    conf = load_settings(tmp_path, {"STREAMHOUSE_SPARK_CONF": given}).spark.conf
    assert conf == {"spark.jars": "/srv/a.jar", "spark.nobody.knows": "1"}
