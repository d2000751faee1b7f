"""The empty machine, booted: systemd is its first process, and its units, journal and network are
its own. The kernel is that of the machine around it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from trials.empty_machine.machine import Machine

_NEEDED = {"systemd-nspawn": "systemd-container", "slirp4netns": "slirp4netns"}
_NSPAWN = [
    *("systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", "--private-network"),
    *("--console=pipe", "--resolv-conf=off", "--timezone=off", "--machine=machine"),
    *("--capability=all", "--drop-capability=CAP_SYS_MODULE"),
]
_IN_CGROUP = 'echo $$ >"$0/cgroup.procs" && exec "$@"'
"""Machines in one cgroup would take each other's processes for their own."""
_REBOOTS = 133
"""The status of systemd-nspawn when the machine has asked for a restart."""
_ENVIRONMENT = {
    "SYSTEMD_NSPAWN_UNIFIED_HIERARCHY": "1",
    "SYSTEMD_NSPAWN_API_VFS_WRITABLE": "network",  # docker makes networks
    "SYSTEMD_SECCOMP": "0",  # nothing is forbidden, as on a machine; its units still filter calls
}


class BootedMachine(Machine):
    """A Debian that runs until it is removed. It reaches the network as a client only."""

    PACKAGES = "systemd-sysv,dbus,iproute2,procps"
    _network: subprocess.Popen[bytes] | None = None
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        missing = [package for program, package in _NEEDED.items() if not shutil.which(program)]
        if missing:
            sys.exit(f"it is booted by systemd-nspawn: install Debian's {' '.join(missing)}")
        (self.root / "etc/resolv.conf").unlink(missing_ok=True)
        (self.root / "etc/resolv.conf").write_text("nameserver 10.0.2.3\n")
        (self.root / "etc/hostname").write_text("machine\n")
        (self.root / "etc/hosts").write_text("127.0.0.1 localhost machine\n")
        (self.root / "etc/environment").write_text("PIP_CERT=/certificates.crt\n")
        self._log = (self._folder / "nspawn.log").open("wb")
        self._cgroup = _cgroups() / self._folder.name
        print(f"booted in {self._boot():.1f} s")

    def enter(self, network: list[str]) -> list[str]:
        return ["nsenter", f"--target={self._init}", "--all"]

    def reboot(self) -> float:
        """Restart it in good order. The seconds until everything runs again."""
        start = time.monotonic()
        self.run("systemctl --no-block reboot")
        assert self._process is not None
        if self._process.wait(timeout=120) != _REBOOTS:
            sys.exit(f"it does not reboot:\n{self._output()}")
        self._leave_network()
        self._boot()
        return time.monotonic() - start

    def stop(self) -> None:
        self._leave_network()
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(timeout=60)
        except subprocess.TimeoutExpired:  # it has not come so far that it could be told to stop
            (self._cgroup / "cgroup.kill").write_text("1")
            self._process.wait()
        self._log.close()
        for folder, _, _ in os.walk(self._cgroup, topdown=False):
            Path(folder).rmdir()

    def _boot(self) -> float:
        """Start it, until systemd has started everything. The seconds that it took."""
        start = time.monotonic()
        self._cgroup.mkdir(exist_ok=True)
        self._process = subprocess.Popen(
            ["sh", "-c", _IN_CGROUP, self._cgroup, *_NSPAWN, f"--directory={self.root}"],
            env=os.environ | _ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        while time.monotonic() - start < 60 and self._process.poll() is None:
            self._init = (_children(self._process.pid) or [0])[-1]
            if self._init and Path(f"/proc/{self._init}/comm").read_text() == "systemd\n":
                command = [*self.enter([]), "systemctl", "is-system-running", "--wait"]
                state = subprocess.run(command, capture_output=True, text=True, check=False).stdout
                if state.strip() in {"running", "degraded"}:
                    seconds = time.monotonic() - start
                    self._join_network()
                    return seconds
            time.sleep(0.05)
        sys.exit(f"it does not boot:\n{self._output()}")

    def _output(self) -> str:
        return Path(self._log.name).read_text()[-3000:]

    def _join_network(self) -> None:
        read, write = os.pipe()
        command = ["slirp4netns", "--configure", "--disable-host-loopback", f"--ready-fd={write}"]
        self._network = subprocess.Popen(
            [*command, str(self._init), "tap0"],
            pass_fds=[write],
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        os.close(write)
        if os.read(read, 1) != b"1":
            sys.exit("slirp4netns gives it no network")
        os.close(read)

    def _leave_network(self) -> None:
        if self._network is not None:
            self._network.terminate()
            self._network.wait()


def _children(pid: int) -> list[int]:
    """The processes of systemd-nspawn: the first one of the machine, once it has started."""
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _cgroups() -> Path:
    """Where cgroups of version 2 are mounted."""
    mounts = (line.split() for line in Path("/proc/self/mounts").read_text().splitlines())
    return next(Path(folder) for _, folder, kind, *_ in mounts if kind == "cgroup2")
