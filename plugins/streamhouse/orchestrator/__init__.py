"""Flows in Airflow: it decides what runs, a runner carries it, the state store is between them."""
