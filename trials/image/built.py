"""The image as it lies in a registry: reproducible, small, with nothing that it does not need."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trials.image.commands import CACHE, IMAGE, ROOT, STORE, build, podman, report, run

CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
MAX_BYTES = 145_000_000
SHELLS = ("sh", "bash", "dash", "busybox", "apt", "dpkg", "pip")


def stand_in() -> str:
    """The image that stands in for the public base."""
    folder = CACHE / "debian"
    root = folder / "root"
    if not (root / "host.crt").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        run("debootstrap", "--variant=minbase", "trixie", root)
        shutil.copy(CERTIFICATES, root / "host.crt")
    file = ROOT / "trials/image/stand_in.Containerfile"
    build("--layers", "-f", file, "-t", "stand-in", folder)
    return "localhost/stand-in"


def build_twice(base: str) -> None:
    arguments = [f"--build-arg=BASE={base}", "--format=docker", "-f", "deploy/Containerfile"]
    layers_of_builds = []
    for tag in ("modelway", "modelway-again"):
        start = time.monotonic()
        build(*arguments, "--no-cache", "-t", tag, ".")
        layers = "--format={{.RootFS.Layers}}"
        layers_of_builds.append(podman("image", "inspect", layers, f"localhost/{tag}"))
        print(f"built {tag} in {time.monotonic() - start:.0f} s")
    report("a second build makes the same layers", layers_of_builds[0] == layers_of_builds[1])


def check_image(image: dict[str, Any]) -> None:
    config = image["Config"]
    unpacked = image["Size"]
    report("at most 145 MB", unpacked <= MAX_BYTES, f"({unpacked / 1e6:.1f} MB)")
    print(f"      {pulled() / 1e6:.1f} MB to pull")
    report("not root", config["User"] == "65532:65532")
    report("labels", config["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0")
    with mounted() as tree:
        tools = [
            n for n in SHELLS for f in tree.glob(f"**/bin/{n}") if f.exists() or f.is_symlink()
        ]
        report("no shell, no package manager", not tools, tools or "")
        unsafe = [
            p
            for p in (tree / "opt/modelway").rglob("*")
            if p.lstat().st_mode & 0o7002 and not p.is_symlink()
        ]
        report("nothing of it is writable for others, or setuid", not unsafe, unsafe[:3] or "")
        system = {file.name for file in (tree / "var/lib/dpkg/status.d").iterdir()}
        report("scanners find the packages of Debian", "libssl3t64" in system, len(system))
        parts = json.loads((tree / "opt/modelway/modelway.cdx.json").read_text("utf-8"))
    by_url = {part["purl"].partition("?")[0]: part["name"] for part in parts["components"]}
    python = {url for url in by_url if url.startswith("pkg:pypi/")}
    report("the list of parts is that of the lock", python == locked(), python ^ locked() or "")
    debian = {by_url[url] for url in by_url.keys() - python}
    report("and of the packages of Debian", debian == system, debian ^ system or "")


def locked() -> set[str]:
    """The package URLs of the lock."""
    lines = (ROOT / "deploy/locks/requirements.lock").read_text("utf-8").splitlines()
    pins = [line.split()[0] for line in lines if "==" in line and line[0].isalnum()]
    return {f"pkg:pypi/{pin.replace('==', '@')}" for pin in pins}


def pulled() -> int:
    """What a registry stores and a node downloads: the layers, compressed by gzip as is usual."""
    folder = CACHE / "pushed"
    shutil.rmtree(folder, ignore_errors=True)
    run("buildah", *STORE, "push", IMAGE, f"dir:{folder}")
    return sum(file.stat().st_size for file in folder.iterdir())


@contextmanager
def mounted() -> Iterator[Path]:
    yield Path(podman("image", "mount", IMAGE))
    podman("image", "unmount", IMAGE)
