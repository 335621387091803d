"""The routes of the page "Query"; they need who may query."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from streamhouse.ui.answers import ExportRequest, PageQueryAnswer, QueryReads, QueryRequest, ReadsRequest
from streamhouse.ui.bodies import read_body
from streamhouse.ui.dependencies import Querying, TheAsker, querying
from streamhouse.ui.our_page import from_our_page

router = APIRouter()
_MEDIA = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


# FastAPI reads the body of a request before it asks who sends it; these read it afterwards.
async def _question(request: Request, _: Querying) -> QueryRequest:
    return await read_body(request, QueryRequest)


async def _wanted_file(request: Request, _: Querying) -> ExportRequest:
    return await read_body(request, ExportRequest)


async def _wanted_reads(request: Request, _: Querying) -> ReadsRequest:
    return await read_body(request, ReadsRequest)


@router.post("/api/query", dependencies=[Depends(from_our_page), Depends(querying)])
async def query(
    body: Annotated[QueryRequest, Depends(_question)], asker: TheAsker, request: Request
) -> PageQueryAnswer:
    """The rows that SQL gives."""
    return await asker.ask(body.sql, body.limit, request.is_disconnected)


@router.post("/api/query/export", dependencies=[Depends(from_our_page), Depends(querying)])
async def export(body: Annotated[ExportRequest, Depends(_wanted_file)], asker: TheAsker, request: Request) -> Response:
    """All rows that SQL gives, as a file."""
    content = await asker.file(body.sql, body.format, request.is_disconnected)
    return Response(content, media_type=_MEDIA[body.format])


@router.post("/api/query/reads", dependencies=[Depends(from_our_page), Depends(querying)])
async def reads(body: Annotated[ReadsRequest, Depends(_wanted_reads)], asker: TheAsker, request: Request) -> QueryReads:
    """What SQL reads of each table, in each tier."""
    return await asker.reads(body.sql, request.is_disconnected)
