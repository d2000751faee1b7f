"""On the empty machine: the services of deploy/compose.yaml as Debian packages.

The names of the services are in /etc/hosts, the files are where compose mounts them. A mock answers
in the place of the vendor. Prometheus has its port on the host, as the gateway has 9090 here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import yaml

from benchmarks.empty_machine.checks import ask, get, report, run, until

DEPLOY = Path("deploy")
SERVICES = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]
MODELWAY = "/opt/modelway/bin/modelway"
MOCK = 'upstreams: {openai: {url: "http://127.0.0.1:9000/v1"}}\n'
REQUESTS = 20


def main() -> None:
    with Path("/etc/hosts").open("a") as hosts:
        hosts.write(f"127.0.0.1 localhost telemetry {' '.join(SERVICES)}\n")
    shutil.copytree(DEPLOY / "compose", "/etc/modelway", dirs_exist_ok=True)
    shutil.copytree("openapi", "/opt/modelway/openapi", dirs_exist_ok=True)
    shutil.copy(DEPLOY / "container.yaml", "/opt/modelway")
    Path("/var/lib/modelway").mkdir(exist_ok=True)
    with ExitStack() as running:
        running.enter_context(database())
        running.enter_context(counters())
        running.enter_context(prometheus())
        environment = gateway_environment()
        mock = [MODELWAY, "mock", "--port", "9000", "--config", "/etc/modelway/gateway.yaml"]
        running.enter_context(process(mock, environment | {"MODELWAY_CONFIG": ""}))
        running.enter_context(process([MODELWAY, *words("gateway")], environment))
        until("the gateway is ready", lambda: get("http://telemetry:9090/readyz")[0] == 200)
        check(environment)


def words(service: str) -> list[str]:
    return SERVICES[service].get("command") or ["serve"]


def gateway_environment() -> dict[str, str]:
    """The variables of the service, with their defaults, and the files of the image."""
    values = {
        name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", value)
        for name, value in SERVICES["gateway"]["environment"].items()
    }
    mock = Path("/opt/modelway/mock.yaml")
    mock.write_text(MOCK)
    files = f"/etc/modelway/gateway.yaml:/opt/modelway/container.yaml:{mock}"
    variables = {"OPENAI_API_KEY": "mock-credential", "MODELWAY_CONFIG": files}
    return dict(os.environ) | values | variables


@contextmanager
def database() -> Iterator[None]:
    """Debian's cluster, with the user and the database that compose asks for."""
    wanted = SERVICES["database"]["environment"]
    (version,) = sorted(os.listdir("/usr/lib/postgresql"))
    run("pg_ctlcluster", version, "main", "start")
    password = re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", wanted["POSTGRES_PASSWORD"])
    user, name = wanted["POSTGRES_USER"], wanted["POSTGRES_DB"]
    for statement in (
        f"CREATE USER {user} PASSWORD '{password}'",
        f"CREATE DATABASE {name} OWNER {user}",
    ):
        run("su", "postgres", "-c", f'psql -c "{statement}"')
    test = SERVICES["database"]["healthcheck"]["test"][1:]
    print(f"PostgreSQL {version}: {run(*test).strip()}")
    try:
        yield
    finally:
        run("pg_ctlcluster", version, "main", "stop")


@contextmanager
def counters() -> Iterator[None]:
    """Valkey by the command of compose; Redis where Debian has no Valkey."""
    command, test = words("counters"), SERVICES["counters"]["healthcheck"]["test"][1:]
    if shutil.which(command[0]) is None:
        command, test = (
            [word.replace("valkey", "redis") for word in line] for line in (command, test)
        )
    with process(command, {"PATH": os.environ["PATH"]}, folder="/var/tmp"):
        until(f"{command[0]} answers", lambda: "PONG" in run(*test, check=False))
        yield


@contextmanager
def prometheus() -> Iterator[None]:
    folder = Path("/etc/prometheus")
    shutil.copy(DEPLOY / "compose/prometheus.yml", folder)
    shutil.copy(DEPLOY / "prometheus/alerts.yml", folder)
    command = ["prometheus", f"--config.file={folder}/prometheus.yml"]
    command += ["--web.listen-address=127.0.0.1:9091", "--storage.tsdb.path=/var/tmp/prometheus"]
    with process(command, dict(os.environ)):
        yield


@contextmanager
def process(command: list[str], environment: dict[str, str], folder: str = "/") -> Iterator[None]:
    log = Path("/var/tmp") / f"{Path(command[0]).name}-{command[1].strip('-')[:5]}.log"
    with log.open("w") as output:
        started = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=output, stderr=subprocess.STDOUT
        )
    try:
        yield
    except SystemExit:
        print(f"{log}:\n{log.read_text()[-1000:]}")
        raise
    finally:
        started.send_signal(signal.SIGTERM)
        code = started.wait(timeout=45)
        print(f"{' '.join(command[:2])} ended with {code}")


def check(environment: dict[str, str]) -> None:
    """A token, requests, their rows, their counts, their metrics."""
    # The command of the comment in compose.yaml.
    created = run(MODELWAY, "token", "create", "--name", "alice", env=environment)
    secret = re.search(r"mw-\S+", created)
    assert secret is not None, created
    statuses = [ask(secret[0])[0] for _ in range(REQUESTS)]
    report("requests are served", statuses == [200] * REQUESTS, set(statuses))
    report("a request without a token is refused", ask("none")[0] == 401)
    until("rows are in PostgreSQL", lambda: rows(environment) == REQUESTS)
    run(MODELWAY, "token", "update", "alice", "--rate", "5/1h", env=environment)
    until("the limit of alice is counted in the store", lambda: ask(secret[0])[0] == 429)
    until("Prometheus has the requests", lambda: scraped() >= REQUESTS)
    rules = json.loads(get("http://127.0.0.1:9091/api/v1/rules")[1])["data"]["groups"]
    report("Prometheus has the alert rules", len(rules) > 0, sum(len(g["rules"]) for g in rules))


def rows(environment: dict[str, str]) -> int:
    """The rows of requests that were served."""
    text = run(MODELWAY, "usage", "--by", "status", "--format", "json", env=environment)
    totals = json.loads(text)["totals"]
    return sum(total["requests"] for total in totals if str(total["status"]) == "200")


def scraped() -> float:
    text = get("http://127.0.0.1:9091/api/v1/query?query=sum(modelway_requests_total)")[1]
    result = json.loads(text)["data"]["result"] if text else []
    return float(result[0]["value"][1]) if result else 0


if __name__ == "__main__":
    main()
