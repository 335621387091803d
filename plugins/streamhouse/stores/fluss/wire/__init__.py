"""Fluss's wire protocol, as much of it as reads and DDL need (docs/decisions/fluss-wire.md).

`proto` encodes bodies, `api` names the requests and agrees on their versions, `link` is one connection, `wire` the
connections to all servers, `login` says who we are, and `refusal` makes errors of what a server refuses.
"""
