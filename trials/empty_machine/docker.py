"""On the booted machine: deploy/compose.yaml with Docker, as docs/how-to/containers.md says.

The images of PostgreSQL, Valkey and Prometheus, and Debian's under that of the gateway, are
stand-ins (`stand_ins/`). A mock in the gateway's network answers in the place of the vendor.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.support.blocks import scripts
from trials.empty_machine.checks import ask, get, report, shell, until

CONFIG = Path("deploy/compose/gateway.yaml")
COMPOSE = "docker compose -f deploy/compose.yaml"
SERVICES = ("database", "counters", "prometheus", "gateway")
STAND_INS = {
    "database": "postgres:18",
    "counters": "valkey/valkey:9",
    "prometheus": "prom/prometheus:v3.5.0",
}
REQUESTS = 20


def main() -> None:
    make_stand_ins()
    up, create = commands()
    with following(up):
        until("all services run, and are healthy", healthy, seconds=900)
        match = re.search(r"mw-\S+", shell(create))
        assert match is not None
        secret = match[0]
        report("a request without a token is refused", ask("none")[0] == 401)
        serve(secret)
        for service in SERVICES:
            restart(service, secret)
        killed(secret)
        drain(secret)
    shell(f"docker rm --force mock; {COMPOSE} down")
    left = shell("docker ps --quiet --all")
    report("`down` leaves no container", not left, left)
    shell(f"OPENAI_API_KEY=sk-... {COMPOSE} up --detach")
    until("healthy after `down` and `up`", healthy)
    report("rows are kept", rows() > REQUESTS, rows())
    report("the token is kept", get_models(secret) == 200)
    shell(f"{COMPOSE} down --volumes")


def commands() -> list[str]:
    """The last block of the page."""
    return scripts(Path("docs/how-to/containers.md"))[-1].splitlines()


def make_stand_ins() -> None:
    """Images of Debian by debootstrap, and what is made of them."""
    for suite, image in (("trixie", "debian:trixie-slim"), ("sid", "debian:sid")):
        folder = f"/var/lib/{suite}"
        shell(f"debootstrap --variant=minbase {suite} {folder}")
        shell(f"cp /certificates.crt {folder}/host.crt")
        (Path(folder) / "etc/pip.conf").write_text("[global]\ncert = /host.crt\n")
        shell(f"tar -C {folder} -c . | docker import - {image}; rm -r {folder}")
    folder = "trials/empty_machine/stand_ins"
    for target, image in STAND_INS.items():
        shell(f"docker build --target {target} --tag {image} -f {folder}/Containerfile {folder}")
    print(f"stand-ins: debian:trixie-slim, {', '.join(STAND_INS.values())}")


@contextmanager
def following(command: str) -> Iterator[None]:
    """A command in the foreground of a terminal, which is closed at the end: what it started
    goes on."""
    log = Path("/var/tmp/compose.log")
    with log.open("w") as output:
        process = subprocess.Popen(
            ["bash", "-c", command], stdout=output, stderr=subprocess.STDOUT, process_group=0
        )
    try:
        yield
    except SystemExit:
        print(log.read_text()[-3000:])
        raise
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def states() -> dict[str, str]:
    lines = shell(f"{COMPOSE} ps --format json").splitlines()
    services = [json.loads(line) for line in lines if line.startswith("{")]
    return {s["Service"]: s["Health"] or s["State"] for s in services}


def healthy() -> bool:
    return states() == dict.fromkeys(SERVICES, "healthy") | {"prometheus": "running"}


def serve(secret: str) -> None:
    """The mock, an edit of the config that leads to it, requests, their rows and their metrics."""
    network = "--network container:modelway-gateway-1 --volumes-from modelway-gateway-1"
    files = "-e MODELWAY_CONFIG= -e OPENAI_API_KEY=x -e PG_PASSWORD=x"
    shell(
        f"docker run --detach --name mock {network} {files} modelway "
        "mock --port 9000 --delay 0.3 --credential sk-... --config /etc/modelway/gateway.yaml"
    )
    text = CONFIG.read_text("utf-8")
    CONFIG.write_text(
        text.replace("provider: openai,", 'provider: openai, url: "http://127.0.0.1:9000/v1",')
    )
    until("the gateway takes up an edit of its config", lambda: ask(secret)[0] == 200)
    statuses = [ask(secret)[0] for _ in range(REQUESTS)]
    report("requests are served", statuses == [200] * REQUESTS, set(statuses))
    print(shell(f"{COMPOSE} exec gateway modelway reload"), end="")
    update = f"{COMPOSE} exec gateway modelway token update alice --rate"
    shell(f"{update} 5/1h")
    until("the limit of a token is counted", lambda: ask(secret)[0] == 429)
    shell(f"{update} none")
    until("and ends with it", lambda: ask(secret)[0] == 200)
    until("rows are in PostgreSQL", lambda: rows() > REQUESTS)
    until("Prometheus has the requests", lambda: scraped() > REQUESTS)
    rules = json.loads(get("http://127.0.0.1:9091/api/v1/rules")[1])["data"]["groups"]
    report("Prometheus has the alert rules", len(rules) > 0, sum(len(g["rules"]) for g in rules))


def serves(secret: str) -> None:
    """Every worker serves, also if it took the mock out while that was restarted."""
    until("requests are served", lambda: {ask(secret)[0] for _ in range(20)} == {200})


def restart(service: str, secret: str) -> None:
    """The mock is in the gateway's network, which is another one after its restart."""
    shell(f"{COMPOSE} restart {service}")
    until(f"healthy after a restart of {service}", healthy)
    if service == "gateway":
        shell("docker restart mock")
    serves(secret)


def killed(secret: str) -> None:
    """As a crash: what `docker kill` ends, Docker leaves alone."""
    pid = "docker inspect --format '{{.State.Pid}}' modelway-gateway-1"
    before = shell(pid)
    shell(f"kill -9 {before}")
    until(
        "the gateway is started again after a crash",
        lambda: shell(pid) not in {before, "0\n"} and states()["gateway"] == "healthy",
    )
    shell("docker restart mock")
    serves(secret)


def drain(secret: str) -> None:
    words = [{"role": "user", "content": "word " * 20}]
    with ThreadPoolExecutor(8) as callers:
        streams = [callers.submit(ask, secret, stream=True, messages=words) for _ in range(8)]
        time.sleep(1)
        shell(f"{COMPOSE} stop gateway")
    ends = Counter(text.rstrip().rpartition("\n")[2] for _, text in (s.result() for s in streams))
    report("a stop waits for 8 streams", ends == {"data: [DONE]": 8}, dict(ends))


def rows() -> int:
    command = f"{COMPOSE} exec gateway modelway usage --by status --format json"
    totals = json.loads(shell(command))["totals"]
    return sum(total["requests"] for total in totals if str(total["status"]) == "200")


def scraped() -> float:
    text = get("http://127.0.0.1:9091/api/v1/query?query=sum(modelway_requests_total)")[1]
    result = json.loads(text)["data"]["result"] if text else []
    return float(result[0]["value"][1]) if result else 0


def get_models(secret: str) -> int:
    return get("http://127.0.0.1:8080/v1/models", {"authorization": f"Bearer {secret}"})[0]


if __name__ == "__main__":
    main()
