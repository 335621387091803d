"""What the project remembers of work that follows from its files: under `.streamhouse/cache/`, safe to delete.

One rule says when a remembered result holds: it stands under a key that hashes everything it follows from, the code
included, and it is used for exactly that key. No result is updated in place and no time of a definition file is
trusted. So a changed input has another key, and a stale result cannot be found.
"""
