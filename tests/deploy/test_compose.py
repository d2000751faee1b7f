"""deploy/compose.yaml: a config that passes check, files that exist, services that fit together."""

import ipaddress
import re
import shutil
import subprocess
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner

from engine.cli import main
from engine.config.server import Server
from engine.values.units import seconds
from tests.support import yaml_text
from tests.support.commands import modelway
from tests.support.paths import ROOT

FOLDER = ROOT / "deploy"
TEXT = (FOLDER / "compose.yaml").read_text("utf-8")
COMPOSE = yaml_text.load(TEXT)
GATEWAY = COMPOSE["services"]["gateway"]
CONFIG = yaml_text.load((FOLDER / "compose/gateway.yaml").read_text("utf-8"))


def test_its_config_passes_check(tmp_path, monkeypatch):
    """Laid over as in the image, with the documents of the repository."""
    text = (FOLDER / "compose/gateway.yaml").read_text("utf-8")
    (tmp_path / "gateway.yaml").write_text(text.replace("/opt/modelway/", f"{ROOT}/"))
    for name in GATEWAY["environment"]:
        monkeypatch.setenv(name, "example")
    monkeypatch.chdir(tmp_path)
    checked = modelway("check", "-c", "gateway.yaml", "-c", FOLDER / "container.yaml")
    assert checked.exit_code == 0, checked.output


def test_the_variables_of_the_config_are_those_of_the_service():
    text = (FOLDER / "compose/gateway.yaml").read_text("utf-8")
    assert set(re.findall(r"\$\{(\w+)\}", text)) == set(GATEWAY["environment"])


def test_mounted_files_exist():
    sources = [
        volume.split(":")[0]
        for service in COMPOSE["services"].values()
        for volume in service["volumes"]
    ]
    files = [source for source in sources if source.startswith(".")]
    assert files
    assert [file for file in files if not (FOLDER / file).exists()] == []
    assert {source for source in sources if source not in files} == set(COMPOSE["volumes"])
    assert (FOLDER / GATEWAY["build"]["context"] / GATEWAY["build"]["dockerfile"]).exists()


def test_the_stores_are_services_that_it_waits_for():
    stores = CONFIG["stores"]
    hosts = {re.search(r"(?:@|//)([\w-]+):\d+/", stores[n])[1] for n in ("records", "counters")}
    assert hosts == set(GATEWAY["depends_on"])
    assert hosts <= set(COMPOSE["services"])
    mounts = [volume.split(":")[1] for volume in GATEWAY["volumes"]]
    assert any(stores["journal"].startswith(f"{mount}/") for mount in mounts)


def test_the_gateway_has_no_rights_and_time_to_drain():
    assert GATEWAY["read_only"]
    assert GATEWAY["cap_drop"] == ["ALL"]
    assert GATEWAY["security_opt"] == ["no-new-privileges:true"]
    server = Server()
    assert seconds(GATEWAY["stop_grace_period"]) > server.delay + server.grace + 5


def test_ports_are_open_on_this_machine_only():
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    assert [port for port in ports if not port.startswith("127.0.0.1:")] == []


def test_prometheus_may_read_the_metrics():
    subnet = ipaddress.ip_network(COMPOSE["networks"]["inside"]["ipam"]["config"][0]["subnet"])
    allowed = map(ipaddress.ip_network, CONFIG["telemetry"]["allow_ips"])
    assert any(subnet.subnet_of(network) for network in allowed)
    scrape = yaml_text.load((FOLDER / "compose/prometheus.yml").read_text("utf-8"))
    overlay = yaml_text.load((FOLDER / "container.yaml").read_text("utf-8"))
    port = overlay["telemetry"]["listen"].split(":")[1]
    (alias,) = GATEWAY["networks"]["inside"]["aliases"]
    assert scrape["scrape_configs"][0]["static_configs"] == [{"targets": [f"{alias}:{port}"]}]


def test_grafana_reads_prometheus_and_the_dashboard():
    services = COMPOSE["services"]
    (source,) = yaml_text.load((FOLDER / "compose/grafana.yml").read_text("utf-8"))["datasources"]
    host = urlsplit(source["url"])
    assert host.hostname in services
    assert services[host.hostname]["ports"][0].endswith(f":{host.port}")
    assert set(services[host.hostname]["networks"]) & set(services["grafana"]["networks"])
    targets = {v.split(":")[0]: v.split(":")[1] for v in services["grafana"]["volumes"]}
    provisioning = yaml_text.load((FOLDER / "grafana/provisioning.yml").read_text("utf-8"))
    (provider,) = provisioning["providers"]
    folder, _, name = targets["./grafana/modelway.json"].rpartition("/")
    assert (folder, name) == (provider["options"]["path"], "modelway.json")


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs Debian's package prometheus")
def test_promtool_accepts_its_config(tmp_path):
    shutil.copy(FOLDER / "compose/prometheus.yml", tmp_path)
    shutil.copy(FOLDER / "prometheus/alerts.yml", tmp_path)
    command = ["promtool", "check", "config", tmp_path / "prometheus.yml"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_the_commands_of_its_comment_exist():
    (words,) = re.findall(r"exec gateway modelway (.*) alice$", TEXT, flags=re.MULTILINE)
    *command, option = words.split()
    result = CliRunner().invoke(main, [*command, "--help"])
    assert result.exit_code == 0
    assert f"{option} " in result.output
