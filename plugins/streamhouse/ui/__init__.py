"""The page people keep open: alone by `streamhouse ui`, and in Airflow's navigation as "Flows"."""
