"""What the master serves: the settings of the current plan."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.process.runtime_dir import prepare
from engine.server.gateway import Gateway
from engine.server.master_state import Phase, WorkerState, read
from engine.server.reload import Plans
from tests.support.shop import CONFIG, Shop

DATABASE = "stores: {records: 'sqlite:///records.db', journal: journal}\n"


class Served(Shop):
    """A shop, and the gateway that serves it."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.run = folder / "run"
        prepare(self.run)
        self.calls: list[str] = []
        plans = Plans(self.make(), self.make, self.run, lambda planned, folder: "")
        self.gateway = Gateway(plans, None, lambda: self.calls.append("ready"))

    def write(self, more: str) -> None:
        self.config.write_text(CONFIG + more)


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(tmp_path)


def test_the_state_is_published_when_the_master_listens(served: Served) -> None:
    assert read(served.run) is None
    served.gateway.cfg.when_ready(None)
    state = read(served.run)
    assert state is not None
    assert (state.hash, served.calls) == (served.gateway.config, ["ready"])


def test_a_new_plan_brings_its_settings_and_a_reverted_one_takes_them_back(served: Served) -> None:
    gateway = served.gateway
    before = gateway.config
    served.write("server: {listen: '127.0.0.1:8099'}\ntelemetry: {listen: '127.0.0.1:9099'}\n")
    assert gateway.renew()
    assert [*gateway.addresses().values()] == ["127.0.0.1:8099", "127.0.0.1:9099"]
    assert gateway.config != before
    gateway.revert("the address cannot be used")
    assert [*gateway.addresses().values()] == ["127.0.0.1:8080", "127.0.0.1:9464"]
    assert gateway.config == before


def test_only_a_config_with_work_beside_the_workers_has_a_recorder(served: Served) -> None:
    assert served.gateway.recorder is None
    served.write(DATABASE)
    assert served.gateway.renew()
    assert callable(served.gateway.recorder)


@pytest.mark.parametrize("watch", [True, False])
def test_files_are_watched_where_the_config_says_so(served: Served, watch: bool) -> None:
    served.write(f"server: {{watch: {str(watch).lower()}}}\n")
    assert served.gateway.renew()
    served.write("")
    assert [served.gateway.changed(), served.gateway.changed()] == [False, watch]


def test_the_states_of_workers_are_published_once_the_new_plan_is_served(served: Served) -> None:
    gateway = served.gateway
    gateway.cfg.when_ready(None)
    served.write("# another text\n")
    assert gateway.renew()
    worker = WorkerState(1, gateway.config, Phase.SERVES, 0.0)
    gateway.report([worker])
    before = read(served.run)
    assert before is not None
    assert before.workers == ()
    gateway.confirm()
    after = read(served.run)
    assert after is not None
    assert (after.hash, after.workers) == (gateway.config, (worker,))
