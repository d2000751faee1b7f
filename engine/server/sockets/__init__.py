"""Sockets of the caller's side: those that listen, and one for each connection. Read
`caller_socket.py` first.
"""
