"""Everything that is not the public API of Spark and py4j, behind functions that say what they give."""
