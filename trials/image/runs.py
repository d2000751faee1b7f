"""The image as it runs: by itself, as the chart's pod, and as the service of compose."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import psycopg
import yaml

from tests.support.chart import CASES, expected, manifests
from tests.support.peer import Authority
from tests.support.pod import ConfigVolume
from tests.support.postgres import Postgres, binaries
from tests.support.redis_server import RedisServer
from trials.image.commands import (
    CACHE,
    IMAGE,
    MACHINE,
    ROOT,
    container,
    get,
    podman,
    report,
    run,
    succeeds,
)

RIGHTS = ("--read-only", "--cap-drop=all", "--security-opt=no-new-privileges")
READY = "http://127.0.0.1:9464/readyz"


def check_alone(health: list[str]) -> None:
    """As the Containerfile says, with the project that `modelway init` makes."""
    folder = CACHE / "project"
    shutil.rmtree(folder, ignore_errors=True)
    run(sys.executable, "-m", "engine", "init", folder)
    mount = f"--volume={folder}:/etc/modelway:ro"
    report("`check` runs in it", *succeeds("run", "--rm", *MACHINE, *RIGHTS, mount, IMAGE, "check"))
    with container(*RIGHTS, mount, IMAGE):
        report("serves", get("http://127.0.0.1:8080/v1/models")[0] == 401)
        report("healthy", *succeeds("exec", "modelway", *health))
        ill = [word.replace("9464", "9465") for word in health]
        report("ill where nothing answers", not succeeds("exec", "modelway", *ill)[0])
        users = podman("top", "modelway", "huser", "capeff").splitlines()[1:]
        report("neither root nor capabilities", {*users} == {"65532       none"}, users[:1])


def check_pod() -> None:
    """As the manifests of the chart say, with a config map that changes."""
    case = next(case for case in CASES if case.stem == "minimal")
    resources = manifests(expected(case).read_text("utf-8"))
    files = next(m for m in resources if m["kind"] == "ConfigMap")["data"]
    pod = next(m for m in resources if m["kind"] == "Deployment")["spec"]["template"]["spec"]
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    config = ConfigVolume(folder / "config", files)
    user = pod["securityContext"]
    words = ["--read-only", "--read-only-tmpfs=false", "--cap-drop=all"]
    words += [
        "--security-opt=no-new-privileges",
        f"--user={user['runAsUser']}:{user['runAsGroup']}",
    ]
    for variable in pod["containers"][0]["env"]:
        words.append(f"--env={variable['name']}={variable.get('value', 'from-a-secret')}")
    for mount in pod["containers"][0]["volumeMounts"]:
        memory = f"--tmpfs={mount['mountPath']}"
        volume = f"--volume={config.folder}:{mount['mountPath']}:ro"
        words.append(volume if mount["name"] == "config" else memory)
    (init,), (serve,) = pod["initContainers"], pod["containers"]
    result = succeeds("run", "--rm", *MACHINE, *words, IMAGE, *init["args"])
    report("the init container accepts the config", *result)
    with container(*words, IMAGE, *serve["args"], seconds=pod["terminationGracePeriodSeconds"]):
        first = json.loads(get(READY)[1])["config"]["hash"]
        text = files["gateway.yaml"].replace("gpt-5-mini", "gpt-5")
        config.change(files | {"gateway.yaml": text})
        report("reloads a config map that has changed", until_other_hash(first))
    shutil.rmtree(folder)


def until_other_hash(first: str) -> bool:
    for _ in range(150):
        status, body = get(READY)
        if status == 200 and json.loads(body)["config"]["hash"] != first:
            return True
        time.sleep(0.2)
    return False


def check_compose() -> None:
    """As the service of compose, beside PostgreSQL (with TLS) and Redis as Debian packages them."""
    service = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text("utf-8"))["services"][
        "gateway"
    ]
    programs = binaries()
    assert programs is not None, "install Debian's package postgresql"
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    data = Path(tempfile.mkdtemp())
    redis, postgres = RedisServer(), Postgres(programs, data)
    try:
        postgres.run("CREATE DATABASE modelway")
        postgres.use_tls(*Authority(folder).issue("127.0.0.1"))
        text = (ROOT / "deploy/compose/gateway.yaml").read_text("utf-8")
        verified = "modelway?sslmode=verify-full&sslrootcert=/etc/modelway/ca.pem"
        text = text.replace("database:5432/modelway", f"127.0.0.1:{postgres.port}/{verified}")
        text = text.replace("counters:6379", f"127.0.0.1:{redis.port}")
        (folder / "gateway.yaml").write_text(text)
        words = ["--cap-drop=all", *(f"--security-opt={o}" for o in service["security_opt"])]
        words += [f"--tmpfs={path}" for path in service["tmpfs"]] + ["--read-only"]
        words += [f"--env={n}=modelway" for n in service["environment"]]
        words += [f"--shm-size={service['shm_size']}", f"--volume={folder}:/etc/modelway:ro"]
        words += ["--volume=journal:/var/lib/modelway", IMAGE]
        with container(*words):
            token = podman("exec", "modelway", "modelway", "token", "create", "--name=alice")
            secret = re.search(r"mw-\S+", token)
            headers = {"authorization": f"Bearer {secret[0] if secret else ''}"}
            status, models = get("http://127.0.0.1:8080/v1/models", headers)
            report("a token of its database is accepted", status == 200, models[:60])
            report("reaches PostgreSQL by TLS", *encrypted(postgres))
            metrics = get("http://127.0.0.1:9464/metrics")[1]
            report("has metrics", "modelway_requests_total" in metrics)
    finally:
        redis.close()
        postgres.stop()
        podman("volume", "rm", "--force", "journal")
        shutil.rmtree(data, ignore_errors=True)
        shutil.rmtree(folder)


def encrypted(postgres: Postgres) -> tuple[bool, str]:
    """Whether all connections of the gateway's database are encrypted, and by which protocol."""
    statement = """
        SELECT DISTINCT coalesce(s.version, 'none')
        FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.datname = 'modelway'"""
    with psycopg.connect(
        host="127.0.0.1", port=postgres.port, user="modelway", dbname="postgres"
    ) as c:
        protocols = [name for (name,) in c.execute(statement)]
    return protocols == ["TLSv1.3"], ", ".join(protocols)
