"""Commands of buildah and podman, and what is reported of them."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path.home() / ".cache" / "modelway" / "image"
IMAGE = "localhost/modelway"
STORE = (f"--root={CACHE}/store", f"--runroot={CACHE}/run", "--storage-driver=overlay")
MACHINE = ("--network=host", "--ulimit=nofile=16384:16384", "--ulimit=nproc=16384:16384")
MACHINE += ("--no-healthcheck",)  # podman wants a timer of systemd for it
"""What this machine needs, and no promise is about."""
FAILURES: list[str] = []


def run(*words: str | Path, check: bool = True) -> str:
    """What a command prints. If it fails, the end of all; without `check`, its complaint too."""
    result = subprocess.run(words, capture_output=True, text=True, check=False, cwd=ROOT)
    if result.returncode and check:
        sys.exit(f"{' '.join(map(str, words))}\n{result.stdout[-3000:]}{result.stderr[-3000:]}")
    return (result.stdout + (result.stderr if result.returncode else "")).strip()


def build(*words: str | Path) -> None:
    run("buildah", *STORE, "build", "--isolation=chroot", "--timestamp=0", *words)


def podman(*words: str | Path, check: bool = True) -> str:
    return run("podman", *STORE, "--runtime=runc", *words, check=check)


def succeeds(*words: str | Path) -> tuple[bool, str]:
    """Whether a command of podman ends with 0, and the last line that it prints."""
    command = ("podman", *STORE, "--runtime=runc", *words)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode == 0, "".join((result.stdout + result.stderr).splitlines()[-1:])


def report(promise: str, holds: bool, figure: object = "") -> None:
    print(f"{'ok  ' if holds else 'FAIL'}  {promise} {figure}".rstrip())
    FAILURES.extend([] if holds else [promise])


@contextmanager
def container(*words: str, seconds: int = 40) -> Iterator[str]:
    """A container that runs until the block ends, and then has to stop by itself in time. Its
    first answer."""
    podman("rm", "--force", "--ignore", "--time=0", "modelway")
    start = time.monotonic()
    podman("run", "--detach", "--name=modelway", *MACHINE, *words)
    answer = first_answer("http://127.0.0.1:9464/readyz")
    report("ready", "ready" in answer, f"after {time.monotonic() - start:.1f} s")
    yield answer
    start = time.monotonic()
    podman("stop", f"--time={seconds}", "modelway")
    code = podman("inspect", "--format={{.State.ExitCode}}", "modelway")
    seconds_taken = time.monotonic() - start
    report("stops by itself", code == "0", f"after {seconds_taken:.1f} s, exit code {code}")
    podman("rm", "--force", "modelway")


def get(url: str, headers: Mapping[str, str] | None = None) -> tuple[int, str]:
    """Status and body; 0 if nothing answers."""
    request = urllib.request.Request(url, headers=dict(headers or {}))
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return 0, ""


def first_answer(url: str) -> str:
    for _ in range(300):
        status, text = get(url)
        if status == 200:
            return text
        time.sleep(0.2)
    return podman("logs", "modelway", check=False)
