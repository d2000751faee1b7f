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
exec chroot "$0" /usr/bin/env -i HOME=/root PATH="$PATH" LANG=C.UTF-8 PIP_CERT=/certificates.crt \\
    SSL_CERT_FILE=/certificates.crt DEBIAN_FRONTEND=noninteractive bash -c "cd /src && $1"
"""
_PATH = "/src/.venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Machine:
    """A Debian in a folder, with the repository in /src. No process of it outlives a command."""

    def __init__(self, suite: str) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="empty-machine-"))
        self.root = self._folder / "root"
        command = ["debootstrap", "--variant=minbase", suite, str(self.root)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        shutil.copy(CERTIFICATES, self.root / "certificates.crt")
        (self.root / "usr/sbin/policy-rc.d").write_text("#!/bin/sh\nexit 101\n")  # starts nothing
        (self.root / "usr/sbin/policy-rc.d").chmod(0o755)
        (self.root / "src").mkdir()
        archive = subprocess.run(
            ["git", "archive", "HEAD"], cwd=ROOT, check=True, capture_output=True
        )
        unpack = ["tar", "-x", "-C", str(self.root / "src")]
        subprocess.run(unpack, input=archive.stdout, check=True)

    def run(self, script: str, *, alone: bool = False) -> str:
        """Run a script of bash in /src; what it prints. `alone`: with a loopback interface of its
        own and no other network. The end of all if it fails."""
        network = ["--net"] if alone else []
        command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", *network]
        command += ["sh", "-ec", _ENTER, str(self.root), script]
        environment = os.environ | {"PATH": _PATH, "ALONE": "1" if alone else ""}
        result = subprocess.run(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if result.returncode:
            sys.exit(f"{script}\n{result.stdout[-6000:]}\nended with {result.returncode}")
        return result.stdout

    def install(self, *packages: str) -> None:
        self.run(f"apt-get -q install -y --no-install-recommends {' '.join(packages)}")

    def remove(self) -> None:
        shutil.rmtree(self._folder)
