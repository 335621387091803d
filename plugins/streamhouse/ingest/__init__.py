"""Where rows come from, behind one protocol."""
