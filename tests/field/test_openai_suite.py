"""The tests of OpenAI's SDK for Python against a mock of the documents, and against the gateway
with objects in front of it: the same tests pass.

They are in the source distribution on PyPI. Their ids are invented, so ids that the gateway has not
sealed pass, and the mock keeps no objects. Tests of the vendor's administration are left out.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from engine.values.caller import digest
from tests.support.cassettes import SourceDistribution
from tests.support.model_servers import FOLDER
from tests.support.paths import ROOT
from tests.support.pip_environment import Unavailable, installed
from tests.support.running import environment, gateway, mock

SOURCE = SourceDistribution(
    "openai", "3.57.0", "5a0a89d6a542efc85e2a8cec701ca9265b795d578c777828e10fafdf80e333b6"
)
KEY = "My API Key"
"""The credential with which the suite calls, the mock's and the gateway's."""
NEEDS = (f"openai[aiohttp]=={SOURCE.version}", "pytest", "pytest-asyncio", "pytest-xdist", "rich")
DOCUMENTS = sorted(path.stem for path in (ROOT / "openapi").glob("openai*.yaml"))
CONFIG = """
version: 1
server: {listen: "{listen}", workers: 1}
objects: {key: 0123456789abcdef0123456789abcdef, legacy: pass}
specs:
{specs}
upstreams:
  openai:
    url: "{url}/v1"
    dialect: openai
    credential: {bearer: {key}}
    breaker: {failures: 1000000}
    retry: {attempts: 1}
    proxy: ""
routes:
  - {operations: ["*"], to: [{upstream: openai}]}
tokens:
  - {name: suite, sha256: {digest}}
"""


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The folder of the suite, and a Python with what it needs."""
    folder = tmp_path_factory.mktemp("suite")
    try:
        python = installed(FOLDER, "openai-suite", NEEDS)
        if not SOURCE.file.is_file():
            SOURCE.download()
    except (Unavailable, subprocess.SubprocessError) as error:
        pytest.skip(f"the suite cannot be had: {error}")
    with tarfile.open(SOURCE.file) as archive:
        archive.extractall(folder, filter="data")
    return folder / f"openai-{SOURCE.version}", python


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of a mock without objects of its own, and of a gateway in front of it."""
    folder = tmp_path_factory.mktemp("front")
    for name in DOCUMENTS:
        text = (ROOT / "openapi" / f"{name}.yaml").read_text()
        (folder / f"{name}.yaml").write_text(text)
        (folder / f"mock-{name}.yaml").write_text(text.replace("x-modelway-mock:", "x-not-read:"))
    config = folder / "mock-gateway.yaml"
    config.write_text(config_text("mock-", "http://127.0.0.1:9").replace("{listen}", "127.0.0.1:9"))
    with mock(folder, "--config", str(config), "--credential", KEY) as upstream:
        text = config_text("", upstream.url)
        with gateway(folder, text, {"NO_PROXY": "*"}) as front:
            yield {"direct": f"{upstream.url}/v1", "through": f"{front.url}/v1"}


def config_text(prefix: str, url: str) -> str:
    """The config of the gateway, of documents whose files have a prefix."""
    specs = "\n".join(f"  {n}: {{document: {prefix}{n}.yaml, dialect: openai}}" for n in DOCUMENTS)
    text = CONFIG.replace("{specs}", specs).replace("{url}", url)
    return text.replace("{key}", KEY).replace("{digest}", digest(KEY))


def passes(suite: tuple[Path, Path], url: str, report: Path) -> set[str]:
    """The names of the tests that pass against a server."""
    folder, python = suite
    tests = ["tests/api_resources", "--ignore", "tests/api_resources/admin"]
    options = ["-q", "-n", "2", "-p", "no:cacheprovider", "-o", "addopts=", "--tb=no"]
    environ = environment({"TEST_API_BASE_URL": url, "NO_PROXY": "*"})
    command = [python, "-m", "pytest", *options, f"--junit-xml={report}", *tests]
    process = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=1800, check=False
    )
    assert report.is_file(), process.stdout + process.stderr
    cases = list(ElementTree.parse(report).iter("testcase"))
    names = {f"{c.get('classname')}.{c.get('name')}" for c in cases if len(c) == 0}
    print(f"{report.name}: {len(names)} of {len(cases)} tests pass")
    return names


def test_the_same_tests_pass_direct_and_through(
    suite: tuple[Path, Path], servers: dict[str, str], tmp_path: Path
) -> None:
    direct, through = (passes(suite, url, tmp_path / n) for n, url in servers.items())
    assert len(direct) > 3000
    assert sorted(direct ^ through) == []
