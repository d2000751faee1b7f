"""Moving bytes unchanged between upstream and caller: headers, server-sent events, WebSockets.
Read `sse.py` first. Whom to ask is decided in `upstream/`.
"""
