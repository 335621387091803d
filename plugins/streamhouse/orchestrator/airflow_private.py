"""What is private to Airflow, as it has no public way to the same; its minor version is pinned.

The operators of Airflow that ask a person (`ApprovalOperator`) ask once and for good. Ours are answered elsewhere, too,
so they write the question and the answer themselves.
"""

from airflow.sdk.execution_time.hitl import (  # noqa: TID253  this module is for Airflow alone
    get_hitl_detail_content_detail,
    update_hitl_detail_response,
    upsert_hitl_detail,
)

__all__ = ["get_hitl_detail_content_detail", "update_hitl_detail_response", "upsert_hitl_detail"]
