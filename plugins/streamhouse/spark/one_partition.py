"""Lets one session join rows that are in one partition each without a shuffle, however many joins there are.

Spark leaves two sides of one partition where they are. But what an inner join gives, it takes for rows that may be
partitioned in two ways, and shuffles them for the next join; and a semi join it moves below the `coalesce` of a place.
A `Repartition` of one partition above each join and each place says that there is one. It does not change what a query
gives. The rule is one of a user (`spark.experimental.extraOptimizations`); the compiler of Spark's generated
code (Janino) makes it of a text.
"""

from threading import Lock
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SOURCE = """
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Repartition;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNode;
import org.apache.spark.sql.execution.LogicalRDD;
import scala.runtime.AbstractFunction1;

public class OnePartition extends Rule {
    public TreeNode apply(TreeNode plan) {
        return (TreeNode) new Above().apply(plan);
    }

    public static class Above extends AbstractFunction1 {
        public Object apply(Object node) {
            TreeNode plan = (TreeNode) node;
            if (plan instanceof Repartition && isOne(((Repartition) plan).child())) {
                TreeNode child = ((Repartition) plan).child();
                TreeNode within = child.mapChildren(this);
                return within == child ? plan : (Object) new Repartition(1, false, (LogicalPlan) within);
            }
            TreeNode within = plan.mapChildren(this);
            return isOne(within) ? (Object) new Repartition(1, false, (LogicalPlan) within) : within;
        }

        private boolean isOne(TreeNode plan) {
            return plan instanceof Join || plan instanceof LogicalRDD;
        }
    }
}
"""

_CLASSES: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()  # by the way to a JVM: py4j knows one class of a name
_COMPILING = Lock()


def join_in_one_partition(spark: "SparkSession") -> None:
    """Let all joins of a session give one partition.

    Args:
        spark: All that its queries read is in one partition.
    """
    context = spark.sparkContext
    jvm: Any = context._jvm
    rule = _compiled(context._gateway, jvm).newInstance()
    rules = jvm.PythonUtils.toSeq([rule])
    getattr(spark._jsparkSession.experimental(), "extraOptimizations_$eq")(rules)


def _compiled(gateway: Any, jvm: Any) -> Any:
    with _COMPILING:
        if gateway not in _CLASSES:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(jvm.org.apache.spark.SparkEnv.get().getClass().getClassLoader())
            compiler.cook(_SOURCE)
            _CLASSES[gateway] = compiler.getClassLoader().loadClass("OnePartition")
        return _CLASSES[gateway]
