"""See `trials.cluster`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.support.chart import FOREIGN
from trials.cluster.manifests import (
    check_base,
    check_refusals,
    check_value_files,
    install_definitions,
)
from trials.cluster.releases import Shell, check_page, check_releases
from trials.cluster.servers import ControlPlane
from trials.image.commands import FAILURES


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        cluster = ControlPlane(Path(folder))
        try:
            print(f"Kubernetes {cluster.version()}")
            check(cluster, Path(folder))
        finally:
            cluster.close()
    sys.exit(f"{len(FAILURES)} promises do not hold" if FAILURES else 0)


def check(cluster: ControlPlane, folder: Path) -> None:
    unknown = install_definitions(cluster, os.environ.get("MODELWAY_CRDS", ""), FOREIGN)
    check_refusals(cluster)
    check_value_files(cluster, unknown)
    check_base(cluster)
    if unknown:
        print(f"skip  the page and releases: MODELWAY_CRDS defines no {', '.join(unknown)}")
        return
    (folder / "page").mkdir()
    shell = Shell(cluster, folder / "page", "page")
    check_page(shell)
    check_releases(shell)


if __name__ == "__main__":
    main()
