"""Settings, Java, jars, services, Spark: the only place that wires all of the above."""
