"""HTTP/1.1 of the caller's side, without I/O: bytes in, request head and body out; response in,
bytes out. Read `request.py` first. Sockets, timeouts and WSGI belong to `server/`.
"""
