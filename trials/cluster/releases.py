"""The commands of docs/how-to/kubernetes.md, word for word, and what helm does with a release."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

from tests.support.blocks import scripts
from tests.support.chart import CASES, CHART, HELM
from tests.support.how_to import Page
from trials.cluster.manifests import items, make_namespace
from trials.cluster.servers import ControlPlane
from trials.image.commands import ROOT, report

_PAGE = ROOT / "docs/how-to/kubernetes.md"
_KINDS = "all,configmap,serviceaccount,pdb,hpa,networkpolicy"


class Shell:
    """Runs commands in a folder with the page's files and the repository's, in a namespace."""

    def __init__(self, cluster: ControlPlane, folder: Path, namespace: str) -> None:
        assert HELM is not None
        self._cluster = cluster
        self._folder = folder
        self._namespace = namespace
        path = f"{Path(HELM).parent}:{os.environ['PATH']}"
        self._environment = os.environ | {"KUBECONFIG": str(cluster.kubeconfig), "PATH": path}
        make_namespace(cluster, namespace)
        cluster.kubectl("config", "set-context", "--current", f"--namespace={namespace}")
        Page.read(_PAGE.read_text("utf-8")).write(folder)
        for name, target in (("deploy", "deploy"), ("openapi", "openapi"), ("modelway", "")):
            (folder / name).symlink_to(ROOT / target)

    def check(self, promise: str, script: str, *, fails: str = "") -> str:
        """Run a script, which prints no warning and ends well, or `fails` with that complaint. What
        it prints."""
        words = ["bash", "-euo", "pipefail", "-c", script]
        result = subprocess.run(
            words,
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        failed, complaint = result.returncode != 0, result.stderr.strip()
        holds = failed and fails in complaint if fails else not failed and not complaint
        report(promise, holds, "" if holds else complaint)
        return result.stdout

    def of_release(self, kinds: str, release: str = "gateway") -> list[dict[str, Any]]:
        """What is there of a release."""
        selector = f"--selector=app.kubernetes.io/instance={release}"
        return items(self._cluster, self._namespace, kinds, selector)


def scripts_of_page() -> tuple[str, str, str]:
    """Its commands: install a release, make the Secret of the ledger, apply the layer."""
    install, records, layer = scripts(_PAGE)
    return install, records, layer


def check_page(shell: Shell) -> None:
    """Its commands, in order; the release with its second value file becomes a StatefulSet."""
    install, records, layer = scripts_of_page()
    notes = shell.check("page: its Secrets and its release", install)
    services = {s["metadata"]["name"]: s for s in shell.of_release("service")}
    port = services["gateway"]["spec"]["ports"][0]["port"]
    address = f"http://gateway.{services['gateway']['metadata']['namespace']}:{port}/v1"
    report("notes: the address of the Service", address in notes, address)
    again = install[install.index("helm") :]
    shell.check("page: the same command again", again)
    shell.check("page: restart", "kubectl rollout restart deployment/gateway")
    shell.check("page: Secrets of the ledger", records)
    shell.check("page: with records.yaml", again.rstrip() + " --values records.yaml")
    workloads = [m["kind"] for m in shell.of_release("deployment,statefulset")]
    report("page: a StatefulSet instead of the Deployment", workloads == ["StatefulSet"])
    check_removed(shell)
    shell.check("page: the layer of Kustomize", layer)
    shell.check("page: the layer is removed", "kubectl delete --kustomize . --wait")


def check_releases(shell: Shell) -> None:
    """Upgrades to each value file and back, a rollback; a name and a size at the limits."""
    minimal = next(case for case in CASES if case.stem == "minimal")
    shell.check("helm install", f"helm install gateway {CHART} --values {minimal}")
    first = shell.of_release("configmap")[0]["data"]
    for case in CASES:
        for values in (case, minimal):
            command = f"helm upgrade gateway {CHART} --values {values}"
            shell.check(f"helm upgrade: {values.stem}", command)
    shell.check(
        "a config that is changed",
        f"helm upgrade gateway {CHART} --values {minimal} --set workers=3",
    )
    report("the map is changed", shell.of_release("configmap")[0]["data"] != first)
    shell.check("helm rollback", "helm rollback gateway")
    report("the map is the first one", shell.of_release("configmap")[0]["data"] == first)
    check_removed(shell)
    dotted = f"helm install my.models {CHART} --values {minimal}"
    shell.check("a release with a dot in its name", f"{dotted} && helm uninstall my.models")
    shell.check(
        "a config that is too large",
        f"head -c 1100000 /dev/zero | tr '\\0' a > large.yaml\n"
        f"helm install gateway {CHART} --values {minimal} --set-file config.files.a=large.yaml",
        fails="a ConfigMap takes 1 MB",
    )
    report("nothing of it is left", not shell.of_release(_KINDS))


def check_removed(shell: Shell) -> None:
    """After `helm uninstall` only volumes with rows are left."""
    shell.check("helm uninstall", "helm uninstall gateway --wait --cascade foreground")
    left = [f"{m['kind']}/{m['metadata']['name']}" for m in shell.of_release(_KINDS)]
    report("nothing is left", not left, left or "")
