"""What `helm template` and `kubectl kustomize` print, applied: each value file has a namespace."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.support.chart import CASES, KUSTOMIZE, manifests, rendered
from trials.cluster.servers import ControlPlane
from trials.fleet.waiting import until
from trials.image.commands import report

_LEVEL = "pod-security.kubernetes.io"
_SERVER_SIDE = ("apply", "--server-side", "--validate=strict", "--filename=-")


def make_namespace(cluster: ControlPlane, name: str) -> None:
    """A namespace whose pods have to meet Pod Security's level `restricted`."""
    labels = {f"{_LEVEL}/{mode}": "restricted" for mode in ("enforce", "warn")}
    metadata = {"name": name, "labels": labels}
    manifest = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    cluster.kubectl("apply", "--filename=-", stdin=json.dumps(manifest))


def check_value_files(cluster: ControlPlane, unknown: Sequence[str]) -> None:
    """Without manifests of the kinds that are unknown to this cluster."""
    cluster.kubectl("create", "priorityclass", "high", "--value=1000")  # which one of them names
    count = 0
    for case in CASES:
        resources = [m for m in manifests(rendered(case)) if m["kind"] not in unknown]
        check_applied(cluster, case.stem, resources)
        count += len(resources)
    print(f"      {count} manifests of {len(CASES)} value files")


def check_refusals(cluster: ControlPlane) -> None:
    """What the other checks rely on: the server refuses a pod with rights and a misspelt member."""
    make_namespace(cluster, "refusals")
    manifest = next(m for m in manifests(rendered(CASES[0])) if m["kind"] == "Deployment")
    manifest["spec"]["replica"] = 2
    misspelt = ("--namespace=refusals", "--dry-run=server")
    result = cluster.try_kubectl(*_SERVER_SIDE, *misspelt, stdin=json.dumps(manifest))
    report("a misspelt member is refused", "replica" in result.stderr and result.returncode != 0)
    pod = ("run", "root", "--image=root", "--namespace=refusals", "--dry-run=server")
    result = cluster.try_kubectl(*pod)
    report("a pod that may run as root is refused", "violates PodSecurity" in result.stderr)


def check_base(cluster: ControlPlane) -> None:
    check_applied(cluster, "kustomize", manifests(cluster.kubectl("kustomize", KUSTOMIZE)))


def check_applied(
    cluster: ControlPlane, namespace: str, resources: Sequence[dict[str, Any]]
) -> None:
    """Apply manifests, whose members the server all has to know, see their pods, and compare."""
    make_namespace(cluster, namespace)
    text = yaml.safe_dump_all(resources)
    for words in (["--dry-run=server"], []):
        result = cluster.try_kubectl(*_SERVER_SIDE, *words, f"--namespace={namespace}", stdin=text)
        accepted = result.returncode == 0 and not result.stderr
        report(f"{namespace}: accepted {' '.join(words)}", accepted, result.stderr)
    wanted = next(m for m in resources if m["kind"] in ("Deployment", "StatefulSet"))
    check_pods(cluster, namespace, wanted)
    words = ["diff", "--server-side", "--filename=-", f"--namespace={namespace}"]
    result = cluster.try_kubectl(*words, stdin=text)
    report(f"{namespace}: nothing would change now", not result.returncode, result.stdout)


def check_pods(cluster: ControlPlane, namespace: str, workload: dict[str, Any]) -> None:
    """The controllers make the pods: as many as are wanted, or as the autoscaler's minimum is."""
    scalers = items(cluster, namespace, "hpa")
    least = scalers[0]["spec"]["minReplicas"] if scalers else workload["spec"]["replicas"]
    try:
        until(lambda: len(items(cluster, namespace, "pods")) == least, "pods", 60)
    except TimeoutError:
        report(f"{namespace}: pods", False, cluster.kubectl("events", f"--namespace={namespace}"))
    else:
        report(f"{namespace}: pods are admitted as restricted", True, least)


def items(cluster: ControlPlane, namespace: str, kind: str, *words: str) -> list[dict[str, Any]]:
    text = cluster.kubectl("get", kind, f"--namespace={namespace}", "--output=json", *words)
    return list(json.loads(text)["items"])


def install_definitions(cluster: ControlPlane, folder: str, kinds: Sequence[str]) -> list[str]:
    """Install the CustomResourceDefinitions of a folder. The kinds that are still unknown."""
    if folder:
        for file in sorted(Path(folder).glob("*.yaml")):
            cluster.kubectl("apply", "--server-side", f"--filename={file}")
        cluster.kubectl("wait", "--for=condition=Established", "crd", "--all")
    known = cluster.kubectl("api-resources", "--no-headers").split()
    return [kind for kind in kinds if kind not in known]
