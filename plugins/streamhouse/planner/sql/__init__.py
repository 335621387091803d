"""The parts of a Request as syntax trees of Spark SQL, each with its type."""
