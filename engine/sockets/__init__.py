"""Requests over one socket: the Responses API over a WebSocket. Read `session.py` first.

`messages` reads what a client sends and writes errors, `memory` keeps responses, `events` makes
messages of server-sent events, `socket_request` is one request, `lanes` decides when it begins,
`upgrade` is the handler of a route. Upstreams that speak it are asked by `engine.upstream`.
"""
