"""What a machine needs before anything runs: Java, jars, and the room for them."""
