"""Tables in Fluss, Paimon and Iceberg behind one protocol."""
