"""The Model Context Protocol as values: messages in, answers out, no sockets. Read `server.py`
first; the revisions that are served are in `revisions.py`."""
