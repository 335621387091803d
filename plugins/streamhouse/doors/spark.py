"""The settings of Spark that `streamhouse.yaml` may give; the person who runs it may give others. Pure."""

from streamhouse.doors.setting import Door, Kind, group

VARIABLE = "STREAMHOUSE_SPARK_CONF"
"""Has further settings, as a JSON object: it belongs to the person who runs the command."""

_CODEC = ("lz4", "lzf", "snappy", "zstd", "none", "uncompressed", "gzip")

SPARK_CONF = Door(
    system="Spark",
    elsewhere=f"give it as the environment variable {VARIABLE}, which has a JSON object: it is for the person who "
    "runs Streamhouse",
    taken=dict(
        [
            *group("how much memory the driver and its executors have", Kind.SIZE, """
                spark.driver.memory spark.driver.memoryOverhead spark.driver.maxResultSize spark.executor.memory
                spark.executor.memoryOverhead spark.executor.pyspark.memory spark.memory.offHeap.size
                spark.python.worker.memory"""),
            *group("how memory is shared out", Kind.NUMBER, """
                spark.driver.memoryOverheadFactor spark.executor.memoryOverheadFactor spark.memory.fraction
                spark.memory.storageFraction spark.kubernetes.memoryOverheadFactor"""),
            *group("whether memory outside of the heap is used", Kind.BOOLEAN, "spark.memory.offHeap.enabled"),
            *group("how many cores and executors there are", Kind.NUMBER, """
                spark.driver.cores spark.executor.cores spark.executor.instances spark.cores.max spark.task.cpus
                spark.default.parallelism spark.dynamicAllocation.minExecutors
                spark.dynamicAllocation.maxExecutors spark.dynamicAllocation.initialExecutors"""),
            *group("whether executors come and go with the work", Kind.BOOLEAN, """
                spark.dynamicAllocation.enabled spark.dynamicAllocation.shuffleTracking.enabled"""),
            *group("how long Spark waits", Kind.DURATION, """
                spark.network.timeout spark.executor.heartbeatInterval spark.locality.wait spark.rpc.askTimeout
                spark.rpc.lookupTimeout spark.dynamicAllocation.executorIdleTimeout
                spark.dynamicAllocation.schedulerBacklogTimeout spark.shuffle.io.retryWait
                spark.sql.broadcastTimeout"""),
            *group("how rows travel between tasks", Kind.BOOLEAN, """
                spark.shuffle.compress spark.shuffle.spill.compress spark.broadcast.compress spark.rdd.compress"""),
            *group("how rows travel between tasks", Kind.SIZE, """
                spark.reducer.maxSizeInFlight spark.shuffle.file.buffer spark.broadcast.blockSize
                spark.rpc.message.maxSize"""),
            *group("how rows travel between tasks", Kind.NUMBER, """
                spark.shuffle.io.maxRetries spark.shuffle.sort.bypassMergeThreshold spark.rpc.numRetries
                spark.port.maxRetries"""),
            *group("how rows are packed", Kind.CHOICE, """
                spark.io.compression.codec spark.sql.parquet.compression.codec""", choices=_CODEC),
            *group("at which port executors reach the driver", Kind.NUMBER, """
                spark.driver.port spark.driver.blockManager.port spark.blockManager.port
                spark.streamhouse.heartbeat.port"""),
            *group("into how many parts the rows of a query are split", Kind.NUMBER, """
                spark.sql.shuffle.partitions spark.sql.adaptive.coalescePartitions.initialPartitionNum
                spark.sql.adaptive.coalescePartitions.minPartitionNum spark.sql.files.minPartitionNum
                spark.sql.adaptive.skewJoin.skewedPartitionFactor
                spark.sql.adaptive.nonEmptyPartitionRatioForBroadcastJoin"""),
            *group("how large a part of the rows of a query may be", Kind.SIZE, """
                spark.sql.autoBroadcastJoinThreshold spark.sql.adaptive.advisoryPartitionSizeInBytes
                spark.sql.adaptive.coalescePartitions.minPartitionSize
                spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold
                spark.sql.adaptive.autoBroadcastJoinThreshold
                spark.sql.adaptive.skewJoin.skewedPartitionThresholdInBytes spark.sql.files.maxPartitionBytes
                spark.sql.files.openCostInBytes spark.sql.maxSinglePartitionBytes spark.sql.defaultSizeInBytes"""),
            *group("how Spark plans a query", Kind.BOOLEAN, """
                spark.sql.adaptive.enabled spark.sql.adaptive.coalescePartitions.enabled
                spark.sql.adaptive.coalescePartitions.parallelismFirst spark.sql.adaptive.localShuffleReader.enabled
                spark.sql.adaptive.skewJoin.enabled spark.sql.adaptive.forceOptimizeSkewedJoin
                spark.sql.join.preferSortMergeJoin spark.sql.cbo.enabled spark.sql.cbo.joinReorder.enabled
                spark.sql.cbo.starSchemaDetection spark.sql.codegen.wholeStage spark.sql.exchange.reuse
                spark.sql.execution.reuseSubquery spark.sql.optimizer.dynamicPartitionPruning.enabled
                spark.sql.optimizer.runtime.bloomFilter.enabled spark.sql.inMemoryColumnarStorage.compressed
                spark.sql.parquet.enableVectorizedReader"""),
            *group("how many rows are moved at once", Kind.NUMBER, """
                spark.sql.execution.arrow.maxRecordsPerBatch spark.sql.inMemoryColumnarStorage.batchSize
                spark.sql.parquet.columnarReaderBatchSize spark.sql.codegen.maxFields"""),
        ]
    ),
    refused={},
    families={
        "spark.jars": "it brings code into Spark",
        "spark.plugins": "it names a class that Spark runs",
        "spark.extraListeners": "it names classes that Spark runs",
        "spark.sql.extensions": "it names classes that Spark runs",
        "spark.sql.queryExecutionListeners": "it names classes that Spark runs",
        "spark.sql.streaming.streamingQueryListeners": "it names classes that Spark runs",
        "spark.sql.catalog": "it names a class that Spark runs, or where a catalog sends our login",
        "spark.sql.sources": "it names classes that Spark runs, or changes how tables are written",
        "spark.sql.hive": "it names classes and jars that Spark runs",
        "spark.sql.warehouse": "Streamhouse sets the folder itself",
        "spark.sql.session": "rows would depend on it",
        "spark.sql.ansi": "rows would depend on it",
        "spark.sql.legacy": "rows would depend on it",
        "spark.sql.iceberg": "rows would depend on it",
        "spark.sql.streaming": "Streamhouse sets it itself",
        "spark.python": "it names code that Spark runs, or a place of its workers",
        "spark.pyspark": "it names a program that Spark runs",
        "spark.r.": "it names a program that Spark runs",
        "spark.submit": "it names code that Spark runs",
        "spark.files": "it names files that Spark copies",
        "spark.archives": "it names files that Spark copies",
        "spark.driver.extra": "it gives options or classes to Java",
        "spark.driver.defaultJavaOptions": "it gives options to Java",
        "spark.driver.userClassPathFirst": "it gives classes to Java",
        "spark.driver.log": "it names a folder that Spark writes",
        "spark.driver": "it says where the driver is, and who may call it",
        "spark.executor.extra": "it gives options or classes to Java",
        "spark.executor.defaultJavaOptions": "it gives options to Java",
        "spark.executorEnv": "it sets variables of the executors",
        "spark.executor": "it says how executors run their code",
        "spark.local.dir": "it names a folder that Spark writes",
        "spark.eventLog": "it names a folder that Spark writes",
        "spark.history": "it names a folder that Spark reads",
        "spark.checkpoint": "it names a folder that Spark writes",
        "spark.log": "Streamhouse sets where logs go",
        "spark.ui": "it opens a page without a login",
        "spark.metrics": "it names classes that Spark runs, and a page without a login",
        "spark.redaction": "Streamhouse sets it itself: it keeps secrets out of logs",
        "spark.ssl": "it names files and passwords",
        "spark.authenticate": "Streamhouse sets it itself: it keeps others out of Spark",
        "spark.acls": "it says who may see and stop what Spark runs",
        "spark.admin": "it says who may see and stop what Spark runs",
        "spark.modify": "it says who may see and stop what Spark runs",
        "spark.kubernetes": "it names images, accounts, volumes and Secrets of a cluster",
        "spark.yarn": "it names files, accounts and variables of a cluster",
        "spark.kerberos": "it names accounts and files",
        "spark.hadoop": "it names classes, files and logins of Hadoop; 'object_store' says where a store is",
        "spark.worker": "it names programs of a cluster",
        "spark.deploy": "it names programs of a cluster",
        "spark.resources": "it names a program that Spark runs",
        "spark.serializer": "it names a class that Spark runs",
        "spark.closure": "it names a class that Spark runs",
        "spark.kryo": "it names a class that Spark runs",
        "spark.shuffle": "it names a class that Spark runs, or changes how rows are exchanged",
        "spark.scheduler": "it names a file that Spark reads",
        "spark.task": "Streamhouse sets how often a task may run: one that ran twice would write twice",
        "spark.stage": "Streamhouse sets how often a task may run: one that ran twice would write twice",
        "spark.speculation": "Streamhouse sets how often a task may run: one that ran twice would write twice",
        "spark.api": "it names a class that Spark runs",
        "spark.connect": "it opens a door for other programs",
        "spark.master": "'spark.master' is 'master' under 'spark'",
        "spark.app": "Streamhouse names its applications itself",
        "spark.home": "it names code that Spark runs",
    },
)  # fmt: skip
