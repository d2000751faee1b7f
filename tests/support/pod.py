"""Runs a container of a pod without a kubelet: with the manifest's command, user, capabilities,
environment and mounts, in namespaces of its own, on a read-only root.

This environment's Python and the repository replace the files of the image. Not as in a cluster:
cgroups, the seccomp profile, PYTHONPATH. Run as a module, it is the first process of the container
(see `main`).
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.paths import ROOT

TOOLS = ("unshare", "nsenter", "setpriv", "mount")
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/etc/ssl", "/etc/ld.so.cache")
DEVICES = ("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random")
_LOOPBACK_UP = (
    "import fcntl, socket, struct; s = socket.socket(); "
    "fcntl.ioctl(s, 0x8914, struct.pack('16sh', b'lo', 1))"
)
_GET = (
    "import sys; from http.client import HTTPConnection; "
    "c = HTTPConnection('127.0.0.1', int(sys.argv[1]), timeout=9); "
    "c.request('GET', sys.argv[2]); r = c.getresponse(); print(r.status, r.read().decode())"
)


def why_not() -> str:
    """Why no pod can be started here; "" if one can."""
    if os.getuid() != 0 or any(shutil.which(tool) is None for tool in TOOLS):
        return f"needs root and {', '.join(TOOLS)}"
    process = subprocess.run(
        ["unshare", "--mount", "--net", "--pid", "--fork", "mount", "-t", "tmpfs", "none", "/mnt"],
        capture_output=True,
        check=False,
    )
    return "" if process.returncode == 0 else "may not make namespaces or mount here"


class ConfigVolume:
    """A folder with the files of a ConfigMap. A change swaps one link, as a kubelet does."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        self.folder = folder
        self._turn = 0
        folder.mkdir()
        self.change(files)
        for name in files:
            (folder / name.split("/")[0]).symlink_to(f"..data/{name.split('/')[0]}")

    def change(self, files: Mapping[str, str]) -> None:
        self._turn += 1
        new = self.folder / f"..{self._turn}"
        for name, text in files.items():
            file = new / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        (self.folder / "..data_tmp").symlink_to(new.name)
        (self.folder / "..data_tmp").rename(self.folder / "..data")


@dataclass(frozen=True)
class Container:
    """A running container; `process` is unshare's, `pid` that of its first process."""

    process: subprocess.Popen[str]
    pid: int

    def get(self, port: int, path: str) -> tuple[int, str]:
        """Status and body of a page on its loopback; 0 if nothing answers."""
        words = ["nsenter", f"--target={self.pid}", "--net", sys.executable, "-I", "-c", _GET]
        result = subprocess.run(
            [*words, str(port), path], capture_output=True, text=True, check=False
        )
        status, _, body = result.stdout.partition(" ")
        return (int(status), body) if result.returncode == 0 else (0, result.stderr)

    def proc(self, name: str) -> str:
        return Path(f"/proc/{self.pid}/{name}").read_text("utf-8")

    def terminate(self) -> None:
        os.kill(self.pid, signal.SIGTERM)


def _command(
    pod: Mapping[str, Any], container: Mapping[str, Any], volumes: Mapping[str, Path]
) -> list[str]:
    user = pod["securityContext"]
    environment = {
        variable["name"]: variable.get("value", "from-a-secret") for variable in container["env"]
    }
    specification = {
        "root": str(volumes["root"]),
        "user": [user["runAsUser"], user["runAsGroup"]],
        "mounts": {
            mount["mountPath"]: str(volumes.get(mount["name"], ""))
            for mount in container["volumeMounts"]
        },
        "environment": environment,
        "args": container["args"],
    }
    encoded = base64.b64encode(json.dumps(specification).encode()).decode()
    unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL"]
    return [*unshare, sys.executable, "-m", "tests.support.pod", encoded]


def run(
    pod: Mapping[str, Any], container: Mapping[str, Any], volumes: Mapping[str, Path]
) -> subprocess.CompletedProcess[str]:
    """Run a container to its end. `volumes` has the folders of volumes by name, and `root`, an
    empty one; every other volume is memory."""
    command = _command(pod, container, volumes)
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)


@contextmanager
def started(
    pod: Mapping[str, Any], container: Mapping[str, Any], volumes: Mapping[str, Path]
) -> Iterator[Container]:
    """A container that runs until the block ends."""
    command = _command(pod, container, volumes)
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True, cwd=ROOT)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    pids: list[str] = []
    try:
        while not (pids := children.read_text("utf-8").split()):
            assert process.poll() is None
            time.sleep(0.005)
        yield Container(process, int(pids[0]))
    finally:
        # With the first process of the container all others end. The death of unshare would not end
        # it: the signal for that is lost when it changes its user.
        with suppress(ProcessLookupError):
            os.kill(int(pids[0]) if pids else process.pid, signal.SIGKILL)
        process.wait()


def main() -> None:
    """Set up the container's file system and network, drop privileges, and exec its command."""
    specification = json.loads(base64.b64decode(sys.argv[1]))
    root = Path(specification["root"])
    subprocess.run([sys.executable, "-I", "-c", _LOOPBACK_UP], check=True)
    _mount("--make-rprivate", "/")
    _mount("-t", "tmpfs", "-o", "mode=755", "none", root)
    for path, folder in specification["mounts"].items():
        if not folder:
            _memory(root, path)
    for path, folder in specification["mounts"].items():
        if folder:
            _bind(root, folder, path)
    # Of the repository not the hidden folders: the environment may be in one that only root may
    # enter (tox gives .tox the mode 700).
    repository = (str(path) for path in ROOT.iterdir() if not path.name.startswith("."))
    for path in (*SYSTEM, *DEVICES, sys.prefix, sys.base_prefix, *repository):
        _bind(root, path, path)
    _bind(root, str(ROOT / "openapi"), "/opt/modelway/openapi")
    (root / "proc").mkdir()
    _mount("-t", "proc", "none", root / "proc")
    _mount("-o", "remount,ro", root)
    os.chroot(root)
    os.chdir("/etc/modelway")
    user, group = specification["user"]
    rights = ["--clear-groups", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    words = ["setpriv", f"--reuid={user}", f"--regid={group}", *rights, "--"]
    words += [f"{sys.prefix}/bin/modelway", *specification["args"]]
    environment = specification["environment"] | {
        "PATH": f"{sys.prefix}/bin",
        "PYTHONPATH": str(ROOT),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    os.execve("/usr/bin/setpriv", words, environment)


def _mount(*words: str | Path) -> None:
    subprocess.run(["mount", *words], check=True)


def _memory(root: Path, path: str) -> None:
    target = root / path.lstrip("/")
    target.mkdir(parents=True, exist_ok=True)
    _mount("-t", "tmpfs", "-o", "mode=1777", "none", target)


def _bind(root: Path, source: str, path: str) -> None:
    """Bind a folder or file of this machine read-only into the container."""
    target = root / path.lstrip("/")
    if os.path.islink(source):
        target.symlink_to(os.readlink(source))
        return
    if not os.path.exists(source) or target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if os.path.isdir(source):
        target.mkdir()
    else:
        target.touch()
    _mount("--bind", source, target)
    if not source.startswith("/dev/"):
        _mount("-o", "remount,bind,ro", target)


if __name__ == "__main__":
    main()
