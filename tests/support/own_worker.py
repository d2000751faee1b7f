"""A worker class of an operator, on gevent and without its patches."""

from __future__ import annotations

from gunicorn.workers.ggevent import GeventWorker


class Unpatched(GeventWorker):
    def patch(self) -> None:
        """Leave the standard library as it is."""
