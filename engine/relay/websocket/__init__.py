"""WebSockets (RFC 6455), relayed frame by frame. Read `session.py` first.

`handshake` is the part of HTTP, `frames` parses bytes without a socket, `channel` is one side on
its socket, `messages` one side as an endpoint, `session` two sides and the relay between them.
"""
