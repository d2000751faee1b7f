"""The empty machine: a folder with a minimal Debian, entered in namespaces of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_ENTER = """
mount --make-rprivate /
mount -t proc proc "$0/proc"
mount -t tmpfs -o mode=1777 tmpfs "$0/dev/shm"
[ -z "$ALONE" ] || ip link set lo up
exec chroot "$0" "$@"
"""
_PATH = "/src/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_HOMES = {"root": "/root", "stranger": "/home/stranger"}


class Machine:
    """A Debian in a folder, with the repository in /src, which belongs to its user `stranger`. No
    process of it outlives a command."""

    PACKAGES = ""
    """What it has beside the smallest Debian, separated by commas."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="empty-machine-"))
        self.root = self._folder / "root"

    def make(self, suite: str) -> None:
        """Install this release of Debian, and start it. If that fails, `leave` removes it."""
        packages = [f"--include={self.PACKAGES}"] if self.PACKAGES else []
        command = ["debootstrap", "--variant=minbase", *packages, suite, str(self.root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shutil.copy(CERTIFICATES, self.root / "certificates.crt")
        subprocess.run(["chroot", self.root, "useradd", "--create-home", "stranger"], check=True)
        (self.root / "src").mkdir()
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        unpack = ["tar", "-x", "-C", str(self.root / "src")]
        subprocess.run(unpack, input=archive.stdout, check=True)
        subprocess.run(["chroot", self.root, "chown", "-R", "stranger:", "/src"], check=True)
        self.start()

    def start(self) -> None:
        """No service may be started when a package is installed."""
        policy = self.root / "usr/sbin/policy-rc.d"
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)

    def run(self, script: str, *, user: str = "root", alone: bool = False) -> str:
        """Run a script of bash in /src; what it prints. `alone`: with a loopback interface of its
        own and no other network. The end of all if it fails."""
        network = ["--net"] if alone else []
        command = [*self.enter(network), *_as(user), f"cd /src && {script}"]
        result = subprocess.run(
            command,
            env=os.environ | {"ALONE": "1" if alone else ""},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if result.returncode:
            sys.exit(f"{script}\n{result.stdout[-6000:]}\nended with {result.returncode}")
        return result.stdout

    def enter(self, network: list[str]) -> list[str]:
        """The words before a command that is to run in it."""
        unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *network]
        return [*unshare, "sh", "-ec", _ENTER, str(self.root)]

    def install(self, *packages: str) -> None:
        self.run(f"apt-get -q install -y --no-install-recommends {' '.join(packages)}")

    def stop(self) -> None:
        """End what runs in it, if it was started."""

    def leave(self, *, keep: bool) -> None:
        """Stop it; then remove it, or print where it is."""
        self.stop()
        if keep:
            print(self.root)
        else:
            shutil.rmtree(self._folder)


def _as(user: str) -> list[str]:
    """The words that run a script of bash as a user, with nothing of this environment."""
    variables = {
        "HOME": _HOMES[user],
        "PATH": _PATH,
        "LANG": "C.UTF-8",
        "PIP_CERT": "/certificates.crt",
        "SSL_CERT_FILE": "/certificates.crt",
        "DEBIAN_FRONTEND": "noninteractive",
    }
    words = ["/usr/bin/env", "-i", *(f"{name}={value}" for name, value in variables.items())]
    return [*words, "setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "bash", "-c"]
