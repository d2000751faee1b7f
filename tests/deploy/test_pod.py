"""The chart's pod, started with its command, user, file system rights and environment."""

import json
from pathlib import Path

import pytest

from tests.support import pod as pods
from tests.support.chart import CASES, expected, manifests
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(bool(pods.why_not()), reason=pods.why_not())


def pod_and_files(name):
    """The pod of a value file, and the files of its config map."""
    case = next(case for case in CASES if case.stem == name)
    found = manifests(expected(case).read_text("utf-8"))
    pod = next(m for m in found if m["kind"] == "Deployment")["spec"]["template"]["spec"]
    return pod, next(m for m in found if m["kind"] == "ConfigMap")["data"]


POD, FILES = pod_and_files("minimal")


def with_config(files, old, new):
    assert old in files["gateway.yaml"]
    return files | {"gateway.yaml": files["gateway.yaml"].replace(old, new)}


@pytest.fixture
def config(tmp_path):
    return pods.ConfigVolume(tmp_path / "config", FILES)


@pytest.fixture
def volumes(tmp_path, config):
    return volumes_of(tmp_path, config)


def volumes_of(tmp_path, config):
    (tmp_path / "root").mkdir()
    return {"root": tmp_path / "root", "config": config.folder}


def probed(container, kind):
    """Status and body of a probe of the manifest."""
    request = POD["containers"][0][f"{kind}Probe"]["httpGet"]
    ports = {port["name"]: port["containerPort"] for port in POD["containers"][0]["ports"]}
    return container.get(ports[request["port"]], request["path"])


def test_it_checks_serves_reloads_and_drains(config, volumes):
    """One start for all: it takes two seconds."""
    checked = pods.run(POD, POD["initContainers"][0], volumes)
    assert checked.returncode == 0, checked.stdout + checked.stderr
    with pods.started(POD, POD["containers"][0], volumes) as container:
        until(lambda: probed(container, "readiness")[0] == 200, "readiness")
        assert probed(container, "startup")[0] == probed(container, "liveness")[0] == 200
        assert container.get(8080, "/v1/chat/completions")[0] in (401, 404, 405)
        has_no_rights(container)
        reloads_completely_or_not_at_all(container, config)
        container.terminate()
        until(lambda: probed(container, "readiness")[0] == 503, "draining")
        assert probed(container, "liveness")[0] == 200


def test_a_changed_secret_is_reloaded(tmp_path):
    """By a pod that listens on IPv6, too."""
    pod, files = pod_and_files("secret-files")
    config = pods.ConfigVolume(tmp_path / "config", files | {"secrets/openai": "sk-first"})
    with pods.started(pod, pod["containers"][0], volumes_of(tmp_path, config)) as container:
        until(lambda: probed(container, "readiness")[0] == 200, "readiness")
        first = state(container)
        config.change(files | {"secrets/openai": "sk-second"})
        until(lambda: state(container)["hash"] != first["hash"], "the new secret")
    assert not Path(f"/proc/{container.pid}").exists(), "it ends with the block"


def state(container):
    return json.loads(probed(container, "readiness")[1])["config"]


def has_no_rights(container):
    status = dict(line.split(":\t", 1) for line in container.proc("status").splitlines())
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65532"}
    assert status["Groups"].split() == []
    assert status["NoNewPrivs"] == "1"
    assert {int(status[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")} == {0}
    mounts = [line.split() for line in container.proc("mountinfo").splitlines()]
    writable = {words[4] for words in mounts if words[5].split(",")[0] == "rw"}
    assert writable - {"/proc"} - set(pods.DEVICES) == {"/tmp", "/dev/shm"}


def reloads_completely_or_not_at_all(container, config):
    first = state(container)
    config.change(with_config(FILES, "models:", "modles:"))
    until(lambda: "modles" in str(state(container)), "the refusal")
    assert state(container)["hash"] == first["hash"]
    config.change(with_config(FILES, "gpt-5-mini", "gpt-5"))
    until(lambda: state(container)["hash"] != first["hash"], "the new config")
