"""WebSockets (RFC 6455), relayed frame by frame. Read `session.py` first.

`handshake` is the upgrade of the HTTP request, `frames` parses and writes frames without a socket,
`channel` is one side on its socket, `endpoint` is one side that sends and receives messages,
`session` relays between two sides, `open_sessions` are those of a worker. Which upstream a session
is opened to, `upstream/websockets/` decides.
"""
