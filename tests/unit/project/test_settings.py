import pytest

from streamhouse.errors import DefinitionErrors, FileFormatError, NotAProjectError, StreamhouseError, UnknownKeyError
from streamhouse.project.project import Project
from streamhouse.project.settings import Settings, load_settings


def settings_of(tmp_path, text, **environment):
    (tmp_path / "streamhouse.yaml").write_text(text)
    return load_settings(tmp_path, environment)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n# and a mark\n\n"])
def test_defaults_need_nothing(tmp_path, text):
    assert settings_of(tmp_path, text) == Settings()
    assert load_settings(tmp_path / "nowhere", {}) == Settings()


def test_everything_can_be_set(tmp_path):
    settings = settings_of(
        tmp_path,
        """
        fluss: one:9123,two:9123
        warm: {warehouse: s3://bucket/warm}
        cold: {warehouse: lake/cold}
        state: postgresql+psycopg://me@host/db
        ivy_settings: conf/ivy.xml
        spark:
          master: "spark://host:7077"
          conf: {spark.driver.memory: 4g, spark.sql.cbo.enabled: true, spark.cores.max: 3}
        """,
    )
    assert settings.fluss == "one:9123,two:9123"
    assert settings.spark.conf == {"spark.driver.memory": "4g", "spark.sql.cbo.enabled": "true", "spark.cores.max": "3"}
    assert settings.ivy_settings == tmp_path / "conf" / "ivy.xml"
    project = Project.at(tmp_path)
    assert project.warm == "s3://bucket/warm"
    assert project.cold == str(tmp_path / "lake" / "cold")
    assert project.state_url == "postgresql+psycopg://me@host/db"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        (
            "flus: a:1\n",
            UnknownKeyError,
            "streamhouse.yaml:1:1: SH102 unknown key 'flus'\n  hint: did you mean 'fluss'?",
        ),
        ("spark:\n  mastr: x\n", UnknownKeyError, "streamhouse.yaml:2:3: SH102 unknown key 'mastr'"),
        ("fluss: nohost\n", FileFormatError, "streamhouse.yaml:1:8: SH101"),
        ("fluss: host:912\u0663\n", FileFormatError, "streamhouse.yaml:1:8: SH101"),
        ("warm: here\n", FileFormatError, "streamhouse.yaml:1:7: SH101 'warm' must be a mapping"),
        ("spark: {conf: [a]}\n", FileFormatError, "streamhouse.yaml:1:15: SH101"),
        (
            "spark:\n  conf: {spark.cores.max: 1, spark.sql.runSQLOnFiles: true}\n",
            FileFormatError,
            "streamhouse.yaml:2:55: SH101 spark.sql.runSQLOnFiles: Streamhouse sets it itself: it keeps queries from",
        ),
        ("spark: {conf: {spark.Sql.Variable.Substitute: true}}\n", FileFormatError, "Streamhouse sets it itself"),
        ("spark: {conf: {spark.authenticate.secret: a}}\n", FileFormatError, "Streamhouse sets it itself"),
        ("spark: {conf: {spark.sql.parser.escapedStringLiterals: true}}\n", FileFormatError, "otherwise than it was"),
        ("- a\n", FileFormatError, "streamhouse.yaml:1:1: SH101 settings are 'key: value' lines"),
        ("a: b: c\n", FileFormatError, "streamhouse.yaml:1:5: SH101 not valid YAML"),
        ("cold: {warehouse: 's3://b/cold'}\n", FileFormatError, "s3://b/cold needs a catalog"),
        ("cold: {scope: a}\n", FileFormatError, "credential and scope are for a REST catalog"),
        (
            "cold:\n  catalog: http://c\n  credential: 'a:hush'\n",
            FileFormatError,
            "streamhouse.yaml:3:3: SH101 'credential' is a secret, which no file of a project may hold",
        ),
        ("spark: {secret: hush}\n", FileFormatError, "STREAMHOUSE_SPARK_SECRET"),
        ("spark: {conf: {spark.hadoop.fs.s3a.secret.key: hush}}\n", FileFormatError, "STREAMHOUSE_SPARK_CONF"),
        ("spark: {conf: {spark.sql.catalog.x.password: hush}}\n", FileFormatError, "STREAMHOUSE_SPARK_CONF"),
        (
            "state: postgresql+psycopg://me:hush@db/state\n",
            FileFormatError,
            "hint: give it as the environment variable STREAMHOUSE_STATE",
        ),
        (
            "cold: {catalog: 'jdbc:x://db?user=me&password=hush'}\n",
            FileFormatError,
            "STREAMHOUSE_COLD_CATALOG",
        ),
        ("cold: {catalog: 'https://me:hush@catalog'}\n", FileFormatError, "STREAMHOUSE_COLD_CATALOG"),
        ("warm: {warehouse: 's3://key:hush@bucket/warm'}\n", FileFormatError, "STREAMHOUSE_WARM"),
        ("object_store: {endpoint: 'http://key:hush@store'}\n", FileFormatError, "STREAMHOUSE_S3_ENDPOINT"),
        ("spark: {conf: {spark.x.url: 'jdbc:x://db?pwd=hush'}}\n", FileFormatError, "STREAMHOUSE_SPARK_CONF"),
        ("spark: {master: 'spark://me:hush@host:1'}\n", FileFormatError, "STREAMHOUSE_SPARK_MASTER"),
        ("data_folders: ['s3://key:hush@bucket']\n", FileFormatError, "the URL at 'data_folders.0' has a password"),
        ("data_folders: ['~nobody-here/x']\n", FileFormatError, "the home of a user whom this machine does not know"),
        (
            "data_folders: [a, 'b\\0']\n".replace("'", '"'),
            FileFormatError,
            "streamhouse.yaml:1:19: SH101 the character U+0000",
        ),
        ("warm: {warehouse: ~nobody-here/x}\n", FileFormatError, "streamhouse.yaml:1:19: SH101"),
        ("ivy_settings: ~nobody-here/x\n", FileFormatError, "streamhouse.yaml:1:15: SH101"),
        ("fluss: h:1\nfluss_login: {user: me, password: hush}\n", DefinitionErrors, "STREAMHOUSE_FLUSS_PASSWORD"),
        ("fluss_login: {user: me}\n", FileFormatError, "fluss_login is for an external Fluss"),
        ("fluss: h:1\nfluss_login: {user: me, mechanism: GSSAPI}\n", FileFormatError, "streamhouse.yaml:2:"),
        ("object_store: {secret_key: hush}\n", DefinitionErrors, "'secret_key' is a secret"),
        ("object_store: {endpoint: here}\n", FileFormatError, "streamhouse.yaml:1:26: SH101"),
        ("flus: a\ncolt: b\n", DefinitionErrors, "streamhouse.yaml:2:1: SH102 unknown key 'colt'"),
    ],
)
def test_mistakes_have_a_place(tmp_path, text, error, message):
    with pytest.raises(error) as refused:
        settings_of(tmp_path, text)
    assert message in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_file_in_another_encoding(tmp_path):
    (tmp_path / "streamhouse.yaml").write_bytes(b"fluss: \xff\n")
    with pytest.raises(FileFormatError, match="UTF-8"):
        load_settings(tmp_path, {})


def test_the_environment_wins(tmp_path):
    settings = settings_of(
        tmp_path,
        "fluss: file:1\nwarm: {warehouse: file}\n",
        STREAMHOUSE_FLUSS="environment:2",
        STREAMHOUSE_COLD="s3://cold",
        STREAMHOUSE_COLD_CATALOG="http://catalog:8181/api/catalog",
        STREAMHOUSE_S3_ENDPOINT="http://store:9000",
        STREAMHOUSE_SPARK_MASTER="local[1]",
        STREAMHOUSE_STATE="",
    )
    assert (settings.fluss, settings.warm.warehouse, settings.cold.warehouse) == ("environment:2", "file", "s3://cold")
    assert (settings.spark.master, settings.state) == ("local[1]", None)


def test_a_wrong_variable_is_named(tmp_path):
    with pytest.raises(FileFormatError, match="environment variable STREAMHOUSE_FLUSS cannot be 'x'"):
        load_settings(tmp_path, {"STREAMHOUSE_FLUSS": "x"})


def test_settings_that_are_printed_have_no_password(tmp_path):
    given = {"STATE": "postgresql://me:hush@db/s", "COLD_CATALOG": "jdbc:postgresql://db/i?user=me&password=hush"}
    settings = load_settings(tmp_path, {f"STREAMHOUSE_{key}": value for key, value in given.items()})
    assert settings.state == given["STATE"]
    assert "hush" not in repr(settings)


@pytest.mark.parametrize("name", ["COLD_CREDENTIAL", "COLD_CATALOG"])
def test_a_wrong_secret_is_not_shown(tmp_path, name):
    with pytest.raises(FileFormatError, match=f"STREAMHOUSE_{name} cannot be what it is") as refused:
        load_settings(tmp_path, {f"STREAMHOUSE_{name}": "no-url-but-hush"})
    assert refused.value.__cause__ is None
    assert "hush" not in str(refused.value)


def test_a_rest_catalog_by_the_environment(tmp_path):
    given = {"CATALOG": "http://catalog/api", "CREDENTIAL": "root:hush", "SCOPE": "PRINCIPAL_ROLE:ALL"}
    settings = load_settings(tmp_path, {f"STREAMHOUSE_COLD_{key}": value for key, value in given.items()})
    assert settings.cold.is_rest
    assert settings.cold.credential == "root:hush"
    assert "hush" not in repr(settings)


@pytest.mark.parametrize("mark", ["flows/", "streamhouse.yaml"])
def test_a_project_is_found_from_anywhere_inside(tmp_path, mark, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    root = tmp_path / "outer" / "shop"
    inside = root / "a" / "b"
    inside.mkdir(parents=True)
    (root / "flows").mkdir() if mark == "flows/" else (root / mark).touch()
    project = Project.find(inside)
    assert project.root == root
    assert project.warm == str(root / ".streamhouse" / "warm")
    assert project.state_url == f"sqlite:///{root}/.streamhouse/state.db"
    with pytest.raises(NotAProjectError):
        Project.at(inside)


def test_no_project(tmp_path):
    with pytest.raises(NotAProjectError) as refused:
        Project.find(tmp_path)
    assert str(tmp_path) in refused.value.message
    assert isinstance(refused.value, StreamhouseError)


def test_looking_at_the_state_does_not_create_it(tmp_path, monkeypatch):
    monkeypatch.delenv("STREAMHOUSE_STATE", raising=False)
    (tmp_path / "flows").mkdir()
    project = Project.at(tmp_path)
    assert project.existing_state() is None
    with project.state() as state:
        assert state.flows() == []
    found = project.existing_state()
    assert found is not None
    found.close()


def test_a_relative_database_lies_in_the_project(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text("state: sqlite:///db/state.db\n")
    with Project.at(tmp_path).state() as state:
        state.flows()
    assert (tmp_path / "db" / "state.db").exists()


def test_settings_of_spark_from_the_environment_lie_on_top_of_the_file(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text("spark: {conf: {spark.driver.memory: 1g, spark.cores.max: 2}}")
    given = {"STREAMHOUSE_SPARK_CONF": '{"spark.driver.memory": "4g", "spark.ui.enabled": true}'}
    settings = load_settings(tmp_path, given)
    assert settings.spark.conf == {
        "spark.driver.memory": "4g",
        "spark.cores.max": "2",
        "spark.ui.enabled": "true",
    }
    assert settings.spark.master == "local[*]"


@pytest.mark.parametrize("text", ["hush", '["hush"]', '{"key": {"hush": 1}}', "7"])
def test_settings_of_spark_that_cannot_be_read_are_not_shown(tmp_path, text):
    with pytest.raises(FileFormatError, match="STREAMHOUSE_SPARK_CONF is no JSON object") as refused:
        load_settings(tmp_path, {"STREAMHOUSE_SPARK_CONF": text})
    assert "hush" not in str(refused.value)


def test_a_variable_does_not_open_what_is_shut(tmp_path):
    with pytest.raises(FileFormatError) as refused:
        load_settings(tmp_path, {"STREAMHOUSE_SPARK_CONF": '{"spark.a": "hush", "spark.sql.runSQLOnFiles": "true"}'})
    assert refused.value.message == (
        "the environment variable STREAMHOUSE_SPARK_CONF may not have 'spark.sql.runSQLOnFiles'"
    )
    assert "hush" not in str(refused.value)


def test_a_model_and_what_one_ask_may_take(tmp_path):
    (tmp_path / "streamhouse.yaml").write_text("models: {model: 'openai:m', url: 'http://localhost:1/v1', tries: 5}\n")
    models = load_settings(tmp_path, {}).models
    assert (models.model, models.tries, models.tokens, models.seconds, models.cost_usd) == (
        "openai:m", 5, 60_000, 60, 0.5
    )  # fmt: skip
    assert load_settings(tmp_path, {"STREAMHOUSE_MODEL": "openai:x"}).models.model == "openai:x"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("models: {api_key: sk-1}", "'api_key' is a secret"),
        ("models: {key: sk-1}", "unknown key 'key'"),
        ("models: {model: 'openai:m', url: 'http://me:sk-1@h/v1'}", "has a password in it"),
        ("models: {model: gpt}", "model"),
        ("models: {model: 'anthropic:m', url: 'http://h/v1'}", "OpenAI's protocol"),
        ("models: {tries: 0}", "tries"),
    ],
)
def test_settings_of_models_that_do_not_fit_are_refused(text, said, tmp_path):
    (tmp_path / "streamhouse.yaml").write_text(f"{text}\n")
    with pytest.raises(StreamhouseError) as refused:
        load_settings(tmp_path, {})
    assert said in str(refused.value)
    assert "sk-1" not in str(refused.value)


def test_the_autopilot_is_off_unless_somebody_turns_it_on(tmp_path):
    assert settings_of(tmp_path, "").autopilot.mode == "off"
    found = settings_of(
        tmp_path,
        "autopilot: {mode: auto, flows: [shop], changes_per_day: 2, cool_down: 30m, quiet_hours: 22:00-06:00}\n",
    ).autopilot
    assert (found.mode, found.flows, found.changes_per_day, found.quiet_hours) == ("auto", ("shop",), 2, "22:00-06:00")
    assert settings_of(tmp_path, "autopilot: {mode: off}\n").autopilot.mode == "off"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{mod: x}", "streamhouse.yaml:1:13: SH102 unknown key 'mod'\n  hint: did you mean 'mode'?"),
        ("{mode: on}", "streamhouse.yaml:1:19: SH101 'mode' cannot be 'on'\n  hint: one of: off, suggest, auto"),
        ("{quiet_hours: 22-06}", "'22-06' is no time of day\n  hint: write begin and end in UTC, such as 22:00-06:00"),
        ("{quiet_hours: 25:00-06:00}", "'25:00-06:00' is no time of day"),
        ("{quiet_hours: 06:00-06:00}", "'06:00-06:00' ends when it begins"),
        ("{cool_down: 3}", "streamhouse.yaml:1:24: SH101 cool_down: 3 lacks a unit"),
        ("{window: forever}", "window"),
        ("{changes_per_day: -1}", "'changes_per_day' is -1, too small"),
        ("{flows: shop}", "'flows' must be a list"),
    ],
)
def test_limits_of_the_autopilot_that_are_wrong(tmp_path, text, message):
    with pytest.raises(StreamhouseError) as raised:
        settings_of(tmp_path, f"autopilot: {text}\n")
    assert message in str(raised.value)
