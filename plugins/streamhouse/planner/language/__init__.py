"""How the offline planner reads English: tokens, numbers, times, the names of a catalog, a grammar of requests."""
