"""gunicorn: the master, its workers, the recorder beside them, the caller's side of HTTP/1.1, and
reload. Only this room imports gunicorn. Read `worker.py` first.
"""
