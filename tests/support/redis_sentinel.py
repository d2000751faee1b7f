"""A Redis master with a replica, and three Sentinels."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.support.ports import free_port
from tests.support.redis_cluster import offset, wait
from tests.support.redis_server import BINARY, RedisServer, command

MASTER = "limits"


class SentinelGroup:
    """A master, a replica and three Sentinels; a silent master is down after half a second."""

    def __init__(self) -> None:
        self.master = RedisServer("--repl-diskless-sync-delay", "0")
        self.replica = RedisServer("--repl-diskless-sync-delay", "0")
        self.replica.say(f"REPLICAOF 127.0.0.1 {self.master.port}")
        wait(lambda: b"master_link_status:up" in self.replica.say("INFO replication"))
        self._homes: list[Path] = []
        self._sentinels: list[subprocess.Popen[bytes]] = []
        self.ports = [free_port() for _ in range(3)]
        for port in self.ports:
            self._homes.append(Path(tempfile.mkdtemp(prefix="sentinel-")))
            self._start(port, self._homes[-1])
        wait(lambda: all(map(self._is_ready, self.ports)))

    @property
    def url(self) -> str:
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"redis+sentinel://{hosts}/{MASTER}"

    def cut(self) -> None:
        """Stop the replication."""
        self.master.say("ACL SETUSER default -psync -sync")
        self.master.say("CLIENT KILL TYPE replica")
        wait(lambda: b"master_link_status:down" in self.replica.say("INFO replication"))

    def wait_for_replica(self) -> None:
        """Wait until the replica has all writes of the master."""
        wait(lambda: offset(self.replica) == offset(self.master))

    def wait_for_failover(self) -> None:
        """Wait until the replica is a master, and every Sentinel names it."""
        wait(lambda: all(map(self._names_replica, self.ports)))
        wait(lambda: b"role:master" in self.replica.say("INFO replication"))

    def kill_sentinels(self) -> None:
        for sentinel in self._sentinels:
            sentinel.kill()
            sentinel.wait()

    def close(self) -> None:
        self.kill_sentinels()
        for home in self._homes:
            shutil.rmtree(home, ignore_errors=True)
        self.master.close()
        self.replica.close()

    def _is_ready(self, port: int) -> bool:
        state = command(port, f"SENTINEL MASTER {MASTER}")
        return b"num-other-sentinels\r\n$1\r\n2" in state and b"num-slaves\r\n$1\r\n1" in state

    def _names_replica(self, port: int) -> bool:
        address = command(port, f"SENTINEL GET-MASTER-ADDR-BY-NAME {MASTER}")
        return b"%d" % self.replica.port in address

    def _start(self, port: int, home: Path) -> None:
        config = home / "sentinel.conf"
        config.write_text(
            f"port {port}\nbind 127.0.0.1\ndir {home}\n"
            f"sentinel monitor {MASTER} 127.0.0.1 {self.master.port} 2\n"
            f"sentinel down-after-milliseconds {MASTER} 500\n"
            f"sentinel failover-timeout {MASTER} 2000\n"
        )
        self._sentinels.append(
            subprocess.Popen(
                [str(BINARY), str(config), "--sentinel"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
