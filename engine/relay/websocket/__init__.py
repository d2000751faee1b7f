"""WebSockets (RFC 6455), relayed frame by frame. Read `session.py` first.

`handshake` is the upgrade of the HTTP request, `frames` parses and writes frames without a socket,
`channel` is one side on its socket, `messages` is one side as an endpoint, `session` relays between
two sides.
"""
