"""Runs one small task of Spark within the JVM, in one question to it.

By single questions through py4j a task takes seventeen, which take processor time on both sides. So a class of the
JVM runs it; the compiler that Spark compiles its generated code with (Janino) makes that class when it is needed.
"""

from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark import SparkContext

_SOURCE = """
import java.util.Base64;
import java.util.Properties;
import org.apache.spark.Partition;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskContextImpl;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.memory.TaskMemoryManager;
import org.apache.spark.rdd.ParallelCollectionPartition;
import org.apache.spark.rdd.RDD;
import scala.Option$;
import scala.collection.Iterator;
import scala.collection.immutable.Map;
import scala.collection.immutable.Nil$;
import scala.collection.immutable.Seq;

public class OneTask {
    private SparkEnv env;
    private Properties settings;
    private Map resources;
    private int little;
    private int batches;

    public void prepare(SparkEnv env, Properties settings, Map resources, int little, int batches) {
        this.env = env;
        this.settings = settings;
        this.resources = resources;
        this.little = little;
        this.batches = batches;
    }

    public void put(ParallelCollectionPartition place, byte[] batch) {
        place.values_$eq(Nil$.MODULE$.$colon$colon(batch));
    }

    public Object run(RDD rdd, Partition partition, long attempt, int number, int of) throws Throwable {
        Running task = new Running();
        boolean goesOn = false;
        task.memory = new TaskMemoryManager(env.memoryManager(), attempt);
        task.context = new TaskContextImpl(0, 0, number, attempt, 0, of, task.memory, settings, env.metricsSystem(),
            TaskMetrics.empty(), 1, resources);
        try {
            TaskContext$.MODULE$.setTaskContext(task.context);
            task.groups = rdd.iterator(partition, task.context).grouped(batches);
            task.first = task.next();
            if (task.first == null) {
                return null;
            }
            if (task.first.size() == 1 && ((byte[]) task.first.apply(0)).length < little) {
                return Base64.getEncoder().encodeToString((byte[]) task.first.apply(0));
            }
            goesOn = true;
            return task;
        } finally {
            if (!goesOn) {
                task.end();
            }
        }
    }

    public static class Running {
        TaskMemoryManager memory;
        TaskContextImpl context;
        Iterator groups;
        Seq first;

        public Seq next() {
            Seq found = first;
            first = null;
            if (found == null && groups.hasNext()) {
                found = (Seq) groups.next();
            }
            return found;
        }

        public void end() {
            try {
                context.markTaskCompleted(Option$.MODULE$.empty());
            } finally {
                try {
                    memory.cleanUpAllAllocatedMemory();
                } finally {
                    TaskContext$.MODULE$.unset();
                }
            }
        }
    }
}
"""


_CLASSES: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()  # by the way to a JVM: py4j knows one class of a name
_COMPILING = Lock()


def one_task(context: "SparkContext", settings: Any, *, little: int, batches: int) -> Any:
    """What runs tasks; its `run` gives None for no rows, text (base64) for one little batch, or a task to go on with.

    Such a task gives groups of batches, a Scala sequence each, from `next` until that is None, and wants its `end`.
    Its `put` sets the rows of a place (`placeholder.Place`) to those of one Arrow batch.

    Args:
        context: Of the JVM whose tasks they are.
        settings: Of the session, where a task looks for them: Java's `Properties`.
        little: A batch of fewer bytes is given as text.
        batches: How many are in one group.
    """
    jvm: Any = context._jvm
    env = jvm.org.apache.spark.SparkEnv.get()
    task_runner = _compiled(context._gateway, jvm, env).newInstance()
    task_runner.prepare(env, settings, jvm.PythonUtils.toScalaMap({}), little, batches)
    return task_runner


def _compiled(gateway: Any, jvm: Any, env: Any) -> Any:
    with _COMPILING:
        if gateway not in _CLASSES:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(env.getClass().getClassLoader())
            compiler.cook(_SOURCE)
            _CLASSES[gateway] = compiler.getClassLoader().loadClass("OneTask")
        return _CLASSES[gateway]
