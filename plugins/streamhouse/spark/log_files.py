"""The session whose streams write their logs without a process for each file."""

from typing import TYPE_CHECKING

from streamhouse.spark.session_copy import once_for_each, session_copy
from streamhouse.spark.shortcuts import Shortcut, shortcuts_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PLAIN_LOGS = {
    # One runner holds the lease of a flow, so nothing else renames or writes in its checkpoint.
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
}
"""Settings of every session of ours."""

LOCAL_LOGS = {
    # Hadoop's own keeps a file of checksums beside each one, and forks a process to set the mode of either: 5 ms.
    "fs.file.impl": "com.globalmentor.apache.hadoop.fs.NakedLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}


@once_for_each
def logging_session(spark: "SparkSession") -> "SparkSession":
    """The copy of a session for streams, whose logs, where they are in a folder, are files without checksums.

    With the shortcut `log_files` alone; else they are as Hadoop writes them.

    Only for these: who else wrote a file so would leave the checksums of the one before it. One for all streams:
    Spark never forgets a session that had one, and sends it all events.
    """
    return session_copy(spark, LOCAL_LOGS if Shortcut.LOG_FILES in shortcuts_of(spark) else {})
