"""The HTTP/1.1 client: protocol (sans-IO), connection, pool, timeouts. Read `client.py` first."""
