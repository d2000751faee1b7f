"""What serving costs: memory of a worker, CPU per request (`benchmarks.start` has the start).

Starts the mock upstream and the gateway with the shipped files on this machine and sends it small
chat requests over one kept-alive connection. Linux only: it reads /proc.

    python -m benchmarks.serving [requests]
"""

from __future__ import annotations

import http.client
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from engine.server.heavy_worker import HEAVY_NAME
from engine.server.recorder_process import RECORDER_NAME
from engine.values.caller import digest
from tests.support.ports import free_port
from tests.support.running import with_telemetry

BODY = b'{"model":"gpt-4o","messages":[{"role":"user","content":"Hello there, gateway!"}]}'
HEADERS = {"authorization": "Bearer mw-bench-one", "content-type": "application/json"}
CREDENTIAL = "mock-credential"


def start(*arguments: str, environ: dict[str, str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "engine", *arguments]
    return subprocess.Popen(command, env={**os.environ, **environ}, stderr=subprocess.DEVNULL)


def write_project(folder: str, port: int, telemetry: str, more: str = "") -> Path:
    """Write the shipped project with one worker and the token `mw-bench-one`; the path of
    its config. `telemetry` is the address of metrics and health, `more` ends the config."""
    init = [sys.executable, "-m", "engine", "init", f"{folder}/gw"]
    subprocess.run(init, check=True, capture_output=True)
    config = Path(folder, "gw", "gateway.yaml")
    text = config.read_text().replace("127.0.0.1:8080", f"127.0.0.1:{port}")
    text = text.replace("workers: 2", "workers: 1")
    text = re.sub(r"^telemetry:\n  listen: .*\n\n", "", text, flags=re.MULTILINE)
    text = f"{text}  - {{name: bench, sha256: {digest('mw-bench-one')}}}\n{more}"
    config.write_text(with_telemetry(text, telemetry))
    return config


def ask(connection: http.client.HTTPConnection) -> None:
    connection.request("POST", "/v1/chat/completions", BODY, HEADERS)
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise SystemExit(f"answered {answer.status}")


def first_answer(port: int, since: float) -> float:
    """Seconds from `since` to the first answer of a gateway that is starting."""
    while time.monotonic() - since < 30:
        try:
            ask(http.client.HTTPConnection("127.0.0.1", port))
        except OSError:
            time.sleep(0.005)
        else:
            return time.monotonic() - since
    raise SystemExit("the gateway did not start")


def workers(master: int) -> list[int]:
    """The process ids of a master's workers, without the recorder and those for large requests."""
    text = Path(f"/proc/{master}/task/{master}/children").read_text()
    return [int(pid) for pid in text.split() if accepts(pid)]


def accepts(pid: int | str) -> bool:
    """Whether a process accepts connections."""
    return Path(f"/proc/{pid}/comm").read_text().strip() not in (HEAVY_NAME, RECORDER_NAME)


def resident(pid: int) -> float:
    """Resident memory of a process, in MB (2**20 bytes)."""
    status = Path(f"/proc/{pid}/status").read_text()
    match = re.search(r"VmRSS:\s+(\d+)", status)
    assert match is not None
    return int(match[1]) / 1024


def cpu_seconds(pid: int) -> float:
    """CPU time of all threads of a process, to the nanosecond."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


def main(requests: int) -> None:
    mock_port, port = free_port(), free_port()
    upstream = f"http://127.0.0.1:{mock_port}/v1"
    environ = {"OPENAI_UPSTREAM": upstream, "OPENAI_API_KEY": CREDENTIAL}
    with tempfile.TemporaryDirectory() as folder:
        config = write_project(folder, port, "off")
        mock = start("mock", "--port", str(mock_port), environ={})
        try:
            measure(config, environ, port, requests)
        finally:
            mock.terminate()
            mock.wait()


def measure(config: Path, environ: dict[str, str], port: int, requests: int) -> None:
    gateway = start("serve", "--config", str(config), environ=environ)
    first_answer(port, time.monotonic())
    (worker,) = workers(gateway.pid)
    print(f"memory of a worker     {resident(worker):.0f} MB after one request")
    connection = http.client.HTTPConnection("127.0.0.1", port)
    before = cpu_seconds(worker)
    for _ in range(requests):
        ask(connection)
    cpu = (cpu_seconds(worker) - before) / requests * 1e6
    print(f"                       {resident(worker):.0f} MB after {requests:,} requests")
    print(f"CPU per request        {cpu:.0f} us (all of the gateway's; JSON chat, one connection)")
    gateway.terminate()
    gateway.wait()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
