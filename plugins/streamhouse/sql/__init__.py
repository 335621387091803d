"""Spark SQL as syntax trees: parse, type, trace, classify, bind. Pure."""
