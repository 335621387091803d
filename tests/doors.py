"""Texts that ask Spark for more than tables: files, code, variables, the process. `{file}` is a file with a canary."""

RELATIONS = r"""
SELECT * FROM text.`{file}`
SELECT * FROM `text`.`{file}` AS t
SELECT * FROM "text"."{file}"
SELECT * FROM `TEXT`.`{file}`
SELECT * FROM csv.`{file}`
SELECT * FROM json.`file://{file}`
SELECT * FROM parquet.`{file}`
SELECT * FROM orc.`{file}`
SELECT * FROM avro.`{file}`
SELECT * FROM xml.`{file}`
SELECT * FROM binaryFile.`{file}`
SELECT * FROM `org.apache.spark.sql.execution.datasources.text.TextFileFormat`.`{file}`
SELECT * FROM iceberg.`{file}`
SELECT * FROM spark_catalog.text.`{file}`
SELECT * FROM cold.text.`{file}`
SELECT * FROM a.b.c.`{file}`
SELECT * FROM `{file}`
SELECT * FROM '{file}'
SELECT * FROM IDENTIFIER('text.`{file}`')
SELECT * FROM IDENTIFIER('text' || '.`{file}`') AS t
SELECT * FROM identifier("text.`{file}`")
SELECT * FROM `identifier`('text.`{file}`')
SELECT * FROM IDENTIFIER(:p)
SELECT * FROM LATERAL IDENTIFIER('text.`{file}`')
SELECT * FROM STREAM(text.`{file}`)
SELECT * FROM STREAM text.`{file}`
SELECT * FROM STREAM(IDENTIFIER('text.`{file}`'))
SELECT * FROM read_files('{file}')
SELECT * FROM read_text('{file}')
SELECT * FROM read_csv('{file}')
SELECT * FROM read_csv_auto('{file}')
SELECT * FROM glob('{file}')
SELECT * FROM python_worker_logs()
SELECT * FROM sql_keywords()
SELECT * FROM no_such_udtf(TABLE(dwd.doors))
SELECT * FROM no_such_udtf(TABLE(SELECT * FROM text.`{file}`))
SELECT * FROM range(1), LATERAL (SELECT * FROM text.`{file}`)
SELECT * FROM dwd.doors d JOIN LATERAL (SELECT * FROM text.`{file}`) ON true
SELECT * FROM dwd.doors d JOIN text.`{file}` t ON true
SELECT * FROM dwd.doors NATURAL JOIN IDENTIFIER('text.`{file}`')
SELECT * FROM (text.`{file}`)
SELECT * FROM ((text.`{file}` a JOIN dwd.doors b ON true))
SELECT * FROM (SELECT * FROM text.`{file}`)
SELECT * FROM (TABLE text.`{file}`)
SELECT * FROM (FROM text.`{file}`)
TABLE text.`{file}`
FROM text.`{file}` SELECT *
FROM text.`{file}` |> SELECT *
FROM dwd.doors |> UNION ALL TABLE text.`{file}`
FROM dwd.doors |> JOIN text.`{file}` ON true
WITH t AS (SELECT * FROM IDENTIFIER('text.`{file}`')) SELECT * FROM t
WITH t AS (SELECT * FROM t) SELECT * FROM t
WITH text AS (SELECT 1) SELECT * FROM text.`{file}`
WITH RECURSIVE r(n) AS (SELECT value FROM text.`{file}` UNION ALL SELECT n FROM r) SELECT * FROM r
SELECT id FROM dwd.doors UNION ALL SELECT value FROM text.`{file}`
SELECT id FROM dwd.doors EXCEPT SELECT value FROM IDENTIFIER('text.`{file}`')
SELECT (SELECT max(value) FROM text.`{file}`)
SELECT (SELECT max(value) FROM IDENTIFIER('text.`{file}`')) AS v FROM dwd.doors
SELECT EXISTS (SELECT 1 FROM STREAM(text.`{file}`))
SELECT id FROM dwd.doors WHERE name IN (SELECT value FROM text.`{file}`)
SELECT id FROM dwd.doors WHERE EXISTS (SELECT 1 FROM IDENTIFIER('text.`{file}`') t WHERE t.value = name)
SELECT id FROM dwd.doors ORDER BY (SELECT max(value) FROM text.`{file}`)
SELECT id FROM dwd.doors LIMIT (SELECT count(*) FROM text.`{file}`)
SELECT id FROM dwd.doors GROUP BY id HAVING count(*) > (SELECT count(*) FROM text.`{file}`)
SELECT id FROM dwd.doors QUALIFY row_number() OVER (ORDER BY id) > (SELECT count(*) FROM text.`{file}`)
SELECT transform(array(1), x -> (SELECT max(value) FROM text.`{file}`))
SELECT CASE WHEN true THEN (SELECT max(value) FROM csv.`{file}`) END
SELECT * FROM text.`{file}` TABLESAMPLE (10 ROWS)
SELECT * FROM text.`{file}` VERSION AS OF 1
SELECT * FROM text.`{file}` TIMESTAMP AS OF '2026-01-01'
SELECT * FROM dwd.doors TIMESTAMP AS OF (SELECT max(value) FROM text.`{file}`)
SELECT * FROM text.`{file}` WITH (`header` = 'true')
SELECT * FROM text.`{file}` PIVOT (max(value) FOR value IN ('a'))
SELECT * FROM dwd.doors PIVOT (max((SELECT max(value) FROM text.`{file}`)) FOR name IN ('a'))
SELECT /*+ BROADCAST((SELECT value FROM text.`{file}`)) */ id FROM dwd.doors
SELECT * FROM VALUES ((SELECT max(value) FROM text.`{file}`)) AS t(a)
SELECT explode(collect_list((SELECT max(value) FROM text.`{file}`))) FROM dwd.doors
SELECT * FROM JSON_TABLE('{file}', '$')
SELECT * FROM UNNEST(array('{file}'))
""".strip().splitlines()

CALLS = r"""
SELECT reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT `reflect`('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT REFLECT('java.nio.file.Files', 'readString', '{file}')
SELECT java_method('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT try_reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT system.builtin.reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT system.session.reflect('a', 'b')
SELECT cold.system.reflect('a', 'b')
SELECT IDENTIFIER('reflect')('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')
SELECT IDENTIFIER('id') FROM dwd.doors
SELECT * FROM VALUES (reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')) AS t(a)
SELECT * FROM explode(array(java_method('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')))
SELECT id FROM dwd.doors LATERAL VIEW explode(array(reflect('a', 'b'))) v AS w
SELECT transform(array(1), x -> try_reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY'))
SELECT max(reflect('java.lang.System', 'getenv', 'STREAMHOUSE_CANARY')) OVER () FROM dwd.doors
SELECT from_xml('<a/>', 'a string', map('rowValidationXSDPath', '{file}'))
SELECT from_xml('<!DOCTYPE a [<!ENTITY e SYSTEM "file://{file}">]><r><a>&e;</a></r>', 'a string')
SELECT schema_of_xml('<!DOCTYPE a [<!ENTITY e SYSTEM "file://{file}">]><r><a>&e;</a></r>')
SELECT xpath_string('<!DOCTYPE a [<!ENTITY e SYSTEM "file://{file}">]><a>&e;</a>', '/a')
SELECT xpath('<a>1</a>', 'document("{file}")')
SELECT from_protobuf(name, 'A', '{file}') FROM dwd.doors
SELECT from_avro(name, '{}', map('avroSchemaUrl', '{file}')) FROM dwd.doors
SELECT schema_of_avro('{file}')
SELECT input_file_name() FROM dwd.doors
SELECT input_file_block_start() FROM dwd.doors
SELECT current_user
SELECT current_user()
SELECT user
SELECT user()
SELECT session_user
SELECT session_user()
SELECT current_catalog()
SELECT current_database()
SELECT current_schema
SELECT version()
SELECT @@version
SELECT ${env:STREAMHOUSE_CANARY}
SELECT :p
SELECT ?
SELECT getenv('STREAMHOUSE_CANARY')
SELECT no_such_udf(id) FROM dwd.doors
SELECT aes_encrypt('a', 'b') FROM text.`{file}`
SELECT TRANSFORM(id) USING 'cat {file}' FROM dwd.doors
SELECT TRANSFORM(id) USING 'env' AS (a) FROM dwd.doors
SELECT * INTO x FROM dwd.doors
""".strip().splitlines()

STATEMENTS = r"""
EXECUTE IMMEDIATE 'SELECT * FROM text.`{file}`'
BEGIN SELECT * FROM text.`{file}`; END
BEGIN DECLARE x STRING DEFAULT (SELECT max(value) FROM text.`{file}`); SELECT x; END
DECLARE VARIABLE x STRING DEFAULT (SELECT max(value) FROM text.`{file}`)
SET VAR x = (SELECT max(value) FROM text.`{file}`)
SET spark.sql.runSQLOnFiles=true
SET
RESET
CREATE TEMPORARY VIEW v USING text OPTIONS (path '{file}')
CREATE OR REPLACE TEMPORARY VIEW v AS SELECT * FROM text.`{file}`
CREATE TEMPORARY FUNCTION f AS 'java.lang.System'
CREATE TABLE t USING text LOCATION '{file}'
CACHE TABLE t AS SELECT * FROM text.`{file}`
INSERT INTO dwd.doors SELECT value FROM text.`{file}`
INSERT OVERWRITE DIRECTORY '{file}.out' USING text SELECT 'x'
INSERT OVERWRITE LOCAL DIRECTORY '{file}.out' SELECT 'x'
COPY INTO dwd.doors FROM '{file}'
COPY dwd.doors TO '{file}.out'
LOAD DATA LOCAL INPATH '{file}' INTO TABLE dwd.doors
ADD JAR '{file}'
ADD FILE '{file}'
LIST FILES
SHOW FUNCTIONS
SHOW TABLES
DESCRIBE text.`{file}`
DESCRIBE QUERY SELECT * FROM text.`{file}`
EXPLAIN SELECT * FROM text.`{file}`
ANALYZE TABLE text.`{file}` COMPUTE STATISTICS
MERGE INTO dwd.doors USING text.`{file}` t ON true WHEN MATCHED THEN DELETE
CALL cold.system.remove_orphan_files(table => 'dwd.doors')
REFRESH '{file}'
USE cold
DROP TABLE dwd.doors
TRUNCATE TABLE dwd.doors
PRAGMA database_list
ATTACH '{file}' AS x
INSTALL httpfs
SELECT 1; SELECT * FROM text.`{file}`
WITH t AS (SELECT 1) INSERT INTO dwd.doors SELECT * FROM text.`{file}`
FROM text.`{file}` INSERT INTO dwd.doors SELECT *
""".strip().splitlines()

LITERALS = ("${env:STREAMHOUSE_CANARY}", "${system:user.home}", "${spark:spark.app.id}", "${STREAMHOUSE_CANARY}")


def filled(texts: list[str], file: object) -> list[str]:
    """The texts with a file's path in them."""
    return [text.replace("{file}", str(file)) for text in texts]
