"""gevent finds its plug-ins in the distributions that are installed, which are read once."""

import subprocess
import sys
import warnings
from importlib import metadata

import pytest
from gevent.monkey import MonkeyPatchWarning

from engine.server.gevent_patches import gevent_plugins, patching
from tests.support import distributions

PLUGIN = """
from pathlib import Path

def note(event):
    with Path(__file__).with_name("patched").open("a") as file:
        file.write(f"{event.module_name} ")
"""
UNUSED = (
    "Monkey-patching outside the main native thread. Some APIs will not be available. "
    "(NOT patched): ['redis.asyncio.connection (/x/redis/asyncio/connection.py)', "
    "'jwt.jwks_client (/x/jwt/jwks_client.py)']"
)
PATCH = """
from importlib import metadata
reads = 0
read_text = metadata.PathDistribution.read_text
def count(self, name):
    global reads
    reads += name == "entry_points.txt"
    return read_text(self, name)
metadata.PathDistribution.read_text = count
from gevent import monkey
from engine.server.gevent_patches import gevent_plugins, patching
gevent_plugins()
before = reads
with patching():
    monkey.patch_all()
print(before > 0, reads - before, monkey.is_module_patched("socket"))
"""


@pytest.fixture
def site(tmp_path, monkeypatch):
    (tmp_path / "acme.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    text = "[gevent.plugins.monkey.did_patch_module]\nacme = acme:note\n"
    distributions.install(tmp_path, "acme", text)
    gevent_plugins.cache_clear()
    yield tmp_path
    gevent_plugins.cache_clear()


def patch():
    """What a process prints that patches."""
    command = [sys.executable, "-c", PATCH]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_distributions_are_read_before_the_fork_and_not_while_patching():
    assert patch() == ["True", "0", "True"]


def test_a_plugin_of_gevent_is_called_for_each_module(site):
    patch()
    assert {"socket", "threading", "time"} <= set((site / "patched").read_text().split())


def test_only_the_plugins_of_gevent_are_found(site):
    groups = {plugin.name: plugin.group for plugin in gevent_plugins()}
    assert groups["acme"] == "gevent.plugins.monkey.did_patch_module"
    assert all(group.startswith("gevent.") for group in groups.values())


def test_others_look_for_entry_points_as_ever_after_it(site):
    before = metadata.entry_points
    with pytest.raises(ZeroDivisionError), patching():
        1 / 0  # noqa: B018 - fails
    assert metadata.entry_points is before


def test_only_the_warning_of_the_unused_modules_is_left_out():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with patching():
            warnings.warn(UNUSED, MonkeyPatchWarning, stacklevel=1)
            warnings.warn(UNUSED.replace("redis", "ours"), MonkeyPatchWarning, stacklevel=1)
    assert ["ours" in str(warning.message) for warning in caught] == [True]
