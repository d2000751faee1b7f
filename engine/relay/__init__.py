"""Moving bytes unchanged between upstream and caller: headers, server-sent events, WebSockets.
Read `sse.py` first. `upstream/` decides which target a request goes to.
"""
