from typing import Any

from gunicorn.workers.base import Worker

class GeventWorker(Worker):
    worker_connections: int
    def handle(self, listener: Any, client: Any, addr: Any) -> None: ...
    def patch(self) -> None: ...
