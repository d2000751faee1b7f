"""WebSockets (RFC 6455): what two sides say to each other, moved frame by frame.

`handshake` is HTTP's part, `frames` knows bytes and no socket, `channel` is one side on its socket,
`messages` one side for whoever speaks himself, `session` two sides and what passes between them.
"""
