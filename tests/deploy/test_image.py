"""The image: what its Containerfile refers to exists, and its lock is that of pyproject.toml.

`python -m trials.image` builds and runs it.
"""

import json
import re
import shlex
import subprocess
import tomllib

import pytest
from click.testing import CliRunner
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from engine.cli import main
from engine.config.telemetry import ALIVE
from tests.support import yaml_text
from tests.support.paths import ROOT

PROJECT_FILE = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PROJECT_FILE["project"]
LOCKS = ROOT / "deploy/locks"
EXTRAS = ("otel", "aws", "google", "azure", "tokenizers")
"""What the image has beyond the dependencies: everything that a config may ask for."""


def instructions():
    text = (ROOT / "deploy/Containerfile").read_text("utf-8")
    joined = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


def of_image(name):
    """The last instruction of this name, in the stage that becomes the image."""
    return [rest for word, rest in instructions() if word == name][-1]


class Pin:
    """An entry of a lock: `name==version`, its hashes, and what needs it."""

    def __init__(self, entry):
        requirement, self.hashes = re.split(r"\s*\\\n", entry, maxsplit=1)
        self.name, self.version = requirement.split(";")[0].strip().split("==")
        _, _, comment = entry.partition("# via")
        self.via = re.findall(r"[\w.-]+", re.sub(r"\(.*?\)", "", comment))


def pins(name):
    text = (LOCKS / name).read_text("utf-8")
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    return {pin.name: pin for pin in map(Pin, entries)}


def required():
    """The requirements of the project and of the extras in the image, by name."""
    texts = list(PROJECT["dependencies"])
    for extra in EXTRAS:
        texts += PROJECT["optional-dependencies"][extra]
    environment = default_environment() | {"python_version": "3.13"}
    requirements = map(Requirement, texts)
    return [r for r in requirements if not r.marker or r.marker.evaluate(environment)]


def test_a_copied_file_exists():
    sources = [
        source
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in shlex.split(rest)[:-1]
    ]
    assert sources
    assert [source for source in sources if not (ROOT / source).exists()] == []


def test_it_serves_the_mounted_config_at_the_exposed_addresses():
    assert json.loads(of_image("ENTRYPOINT")) == ["modelway"]
    (command,) = json.loads(of_image("CMD"))
    assert CliRunner().invoke(main, [command, "--help"]).exit_code == 0
    assert "MODELWAY_CONFIG=/etc/modelway/gateway.yaml:/opt/modelway/container.yaml" in of_image(
        "ENV"
    )
    overlay = yaml_text.load((ROOT / "deploy/container.yaml").read_text("utf-8"))
    ports = {overlay[section]["listen"].split(":")[1] for section in ("server", "telemetry")}
    assert ports == set(of_image("EXPOSE").split())


def test_its_health_check_asks_for_the_page_of_the_telemetry_listener():
    assert f"'GET', '{ALIVE}'" in of_image("HEALTHCHECK")
    assert "'127.0.0.1', 9464" in of_image("HEALTHCHECK")


def test_it_does_not_run_as_root_and_names_the_release():
    assert of_image("USER") == "65532:65532"
    assert f'image.version="{PROJECT["version"]}"' in of_image("LABEL")


def test_the_lock_satisfies_the_project():
    locked = pins("requirements.lock")
    unmet = [
        str(requirement)
        for requirement in required()
        if not requirement.specifier.contains(
            locked[canonicalize_name(requirement.name)].version, prereleases=True
        )
    ]
    assert unmet == [], "run `tox -e lock`"


def test_the_lock_has_nothing_that_the_project_no_longer_needs():
    direct = {name for name, pin in pins("requirements.lock").items() if "modelway" in pin.via}
    assert direct == {canonicalize_name(r.name) for r in required()}, "run `tox -e lock`"


def test_every_entry_of_the_lock_is_needed_by_another_one():
    locked = pins("requirements.lock")
    assert {name for pin in locked.values() for name in pin.via} - {"modelway"} <= set(locked)


@pytest.mark.parametrize("name", ["requirements.lock", "build.lock"])
def test_every_entry_has_a_hash(name):
    assert len(pins(name)) > 10
    assert [pin.name for pin in pins(name).values() if "--hash=sha256:" not in pin.hashes] == []


def test_the_lock_of_the_build_satisfies_its_list():
    locked = pins("build.lock")
    lines = (LOCKS / "build.in").read_text("utf-8").splitlines()
    for requirement in map(Requirement, (line for line in lines if not line.startswith("#"))):
        assert requirement.specifier.contains(locked[requirement.name].version)


def test_every_module_of_the_project_is_copied():
    setuptools = PROJECT_FILE["tool"]["setuptools"]
    modules = {f"{name}.py" for name in setuptools["py-modules"]}
    copied = {name for word, rest in instructions() if word == "COPY" for name in rest.split()}
    assert modules | {"pyproject.toml", "setup.py", "engine"} <= copied


def test_the_list_of_parts_is_completed(tmp_path):
    """Package URLs for scanners, of Python's parts and of Debian's."""
    sbom, status = tmp_path / "sbom.json", tmp_path / "system/var/lib/dpkg/status.d"
    status.mkdir(parents=True)
    (tmp_path / "system/etc").mkdir()
    (tmp_path / "system/etc/debian_version").write_text("13.8\n")
    (status / "zlib1g").write_text(
        "Package: zlib1g\nSource: zlib (1:1.3)\nVersion: 1:1.3.1+b1~x\nArchitecture: amd64\n"
    )
    sbom.write_text(json.dumps({"components": [{"name": "zope.Event", "version": "6.2"}]}))
    subprocess.run([ROOT / "deploy/complete-sbom", sbom, tmp_path / "system"], check=True)
    assert [part["purl"] for part in json.loads(sbom.read_text())["components"]] == [
        "pkg:pypi/zope-event@6.2",
        "pkg:deb/debian/zlib1g@1%3A1.3.1%2Bb1~x?arch=amd64&distro=debian-13&upstream=zlib",
    ]
