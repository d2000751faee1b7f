"""Every method of the vendors' SDKs for Node, and batches from the first request to the last, in
`tox -e thorough`: what npm installs is large, and each method is that of an SDK for Python too."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.agents import FOLDER
from tests.support.paths import CASES
from tests.support.running import ALL, Running, gateway, mock, patient, pointed_at, shipped
from tests.support.thorough import THOROUGH

MODULES = FOLDER / "node_modules"
PACKAGES = ("openai", "@anthropic-ai/sdk", "@google/genai")
NEEDED = THOROUGH and all((MODULES / name).exists() for name in PACKAGES) and shutil.which("node")
pytestmark = pytest.mark.skipif(not NEEDED, reason="for tox -e thorough, with the SDKs of .ci/run")

OBJECTS = """
objects: {key: 0123456789abcdef0123456789abcdef}
stores: {records: "sqlite:///records.db"}
"""
ADMINISTRATION = re.compile(r"/organization|/compliance|/tunnels|/user_profiles")
NO_ROUTE = {
    ("openai", "beta.realtime.sessions.create"): "hands out a key of the vendor",
    ("openai", "beta.realtime.transcriptionSessions.create"): "hands out a key of the vendor",
    ("openai", "realtime.translations.clientSecrets.create"): "hands out a key of the vendor",
    ("google", "models.generateVideos"): "deprecated; the SDK for Python refuses it for this API",
}
"""The methods that are not served, and why, besides the vendors' administration."""


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("node")
    config = shipped(folder / "project").replace("# include: [objects", "include: [objects", 1)
    path = folder / "project" / "mock.yaml"
    path.write_text(config.replace("{listen}", "127.0.0.1:1"))
    text = patient(config + OBJECTS)
    with (
        mock(folder, "--config", str(path)) as upstream,
        gateway(folder / "project", text, pointed_at(upstream.url)) as running,
    ):
        yield running


def rows(script: str, front: Running, folder: Path) -> list[dict[str, Any]]:
    """What a script prints."""
    shutil.copy(CASES / "node_sdks" / script, folder)
    (folder / "node_modules").symlink_to(MODULES)
    command = ["node", script, front.url, ALL]
    process = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert process.returncode == 0, process.stderr
    return [json.loads(line) for line in process.stdout.splitlines()]


def test_every_method_reaches_an_operation(front: Running, tmp_path: Path) -> None:
    """Ids are made up, so most answers say that there is no such object; none says that there is no
    such path."""
    lost, served = set(), 0
    for row in rows("methods.mjs", front, tmp_path):
        if not row["requests"] or ADMINISTRATION.search(row["requests"][-1]["path"]):
            continue
        request = row["requests"][-1]
        assert request["status"] < 500, row
        if request["status"] == 405 or re.search(r"There is no [A-Z]+ /", request["text"]):
            lost.add((row["sdk"], row["method"]))
        else:
            served += 1
    assert lost <= NO_ROUTE.keys(), lost
    assert served >= 300


def test_batches_from_the_first_request_to_the_last(front: Running, tmp_path: Path) -> None:
    steps = {row["what"]: row.get("value") for row in rows("batches.mjs", front, tmp_path)}
    failed = {name for name, value in steps.items() if str(value).startswith("FAILED")}
    assert failed == {"google bad file"}, steps
    assert "Line 1 (key 'a', request.contents)" in steps["google bad file"]
    results = ("openai results", "messages results", "beta results", "google inline")
    assert [steps[name] for name in results] == [2, 2, 2, 1]
    assert steps["google file"] == "JOB_STATE_SUCCEEDED"
    assert steps["google list"] >= 4
    assert "Traceback" not in front.output()
