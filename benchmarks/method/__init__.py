"""How every figure is taken: arms in turn in one run, processor time of whole process trees, and the machine's state.

One arm is one process with its own Spark. `arms` starts them and asks; `ours` and `peer` answer. Both run the
same SQL (`benchmarks/actions`) from the same source into the same kind of Fluss tables, and tell which source
rows became visible in which layer at what time.
"""
