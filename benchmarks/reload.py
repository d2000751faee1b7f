"""Requests and streams lost by a hundred reloads under load, with good and bad configs in turn.

python -m benchmarks.reload [reloads]
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.e2e.test_reload import BAD, Deployment, speak
from tests.support.crowd import traffic
from tests.support.recording import ask, recorder
from tests.support.running import gateway
from tests.support.small import chat, project


def main(reloads: int) -> None:
    cut, complete, ending = 0, 0, threading.Event()

    def listen(port: int) -> None:
        nonlocal cut, complete
        while not ending.is_set():
            body = ask(port, chat("chat", stream=True)).body
            if body.endswith(b"data: [DONE]\n\n"):
                complete += 1
            else:
                cut += 1

    with tempfile.TemporaryDirectory() as name, recorder() as upstream:
        upstream.speak = speak
        folder = Path(name)
        with gateway(folder, project(folder, upstream.url, {"chat": "[]"})) as running:
            deployment = Deployment(running, folder / "gateway.yaml")
            time.sleep(2)
            streams = [threading.Thread(target=listen, args=[running.port]) for _ in range(8)]
            for stream in streams:
                stream.start()
            start = time.monotonic()
            with traffic(running.port, chat("chat")) as callers:
                for turn in range(reloads):
                    deployment.edit(*(BAD if turn % 2 == 0 else BAD[::-1]))
                    deployment.hup(patience=60)
            seconds = time.monotonic() - start
            ending.set()
            for stream in streams:
                stream.join()
    print(f"{reloads} reloads in {seconds:.0f} s; answers {callers.count(200)}, others", end=" ")
    print(f"{sum(map(len, callers.ids.values())) - callers.count(200)}, lost {callers.lost}")
    print(f"streams: {complete} complete, {cut} cut")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
