"""Fixtures that end-to-end tests share: a gateway and a mock, and a browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support import axe as axe_core
from tests.support import pages
from tests.support.agents import FOLDER
from tests.support.browser import CHROMIUM
from tests.support.driver import Driver, driver
from tests.support.peer import Authority
from tests.support.recorded import RecordedGateway
from tests.support.recording import Recorder
from tests.support.running import Platform, Running
from tests.support.running import platform as run


@pytest.fixture(scope="session")
def authority(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a certificate authority."""
    return Authority(tmp_path_factory.mktemp("authority")).path


@pytest.fixture(scope="module", autouse=True)
def _trusts_one_authority(authority: str) -> Iterator[None]:
    """Each client of an SDK reads the authorities that it trusts, although it speaks no TLS here:
    one of them takes 25 ms less than all of the system's. Gateways trust the system's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SSL_CERT_FILE", authority)
        yield


@pytest.fixture(scope="session")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with run(tmp_path_factory.mktemp("platform")) as running:
        yield running


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The platform with a mock that waits 50 ms between two pieces, for realtime sessions."""
    with run(tmp_path_factory.mktemp("live"), "--delay", "0.05") as running:
        yield running


@pytest.fixture(scope="session")
def console(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """The shipped gateway with prices and faults, and a slow mock, for tests of the pages."""
    with pages.console(tmp_path_factory.mktemp("console")) as running:
        yield running


@pytest.fixture(scope="session")
def scripted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Recorder]]:
    """The shipped gateway in front of a scripted upstream."""
    with pages.scripted(tmp_path_factory.mktemp("scripted")) as running:
        yield running


@pytest.fixture
def upstream(recorded: RecordedGateway) -> Recorder:
    """The upstream of the gateway `recorded`, which each module starts for itself, reset."""
    recorded.upstream.reset()
    return recorded.upstream


@pytest.fixture
def port(recorded: RecordedGateway, upstream: Recorder) -> int:
    """The port of that gateway."""
    return recorded.gateway.port


@pytest.fixture(scope="session")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A browser with one page."""
    if not CHROMIUM:
        pytest.skip("no Chromium here; `apt-get install chromium` brings one")
    with driver(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="session")
def axe() -> str:
    """The text of axe-core."""
    script = axe_core.script()
    if not script:
        pytest.skip(f"no axe-core in {FOLDER}; `.ci/run` installs it")
    return script
