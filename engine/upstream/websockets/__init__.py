"""WebSockets to upstreams: of a caller who has one, and in place of HTTP. Read
`websocket_forward.py` first. The protocol is `relay/websocket/`.
"""
