"""Known weaknesses of what is installed with Modelway, and of what its image has.

`python -m tools.audit` asks pip-audit. Where no index answers with weaknesses, it says so and does
not fail.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from tools.dependencies import installed

LOCK = Path(__file__).resolve().parents[1] / "deploy" / "locks" / "requirements.lock"
_SERVICE = "https://pypi.org/pypi/{}/{}/json"


def main() -> int:
    """The exit status: 1 if a dependency has a known weakness."""
    pins = [(entry.metadata["Name"], entry.version) for entry in installed()]
    if not has_service(_SERVICE.format(*pins[0])):
        print("No index with known weaknesses is reachable: the dependencies were not audited.")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        requirements = Path(folder) / "installed.txt"
        requirements.write_text("".join(f"{name}=={version}\n" for name, version in pins))
        return int(any([_audit(requirements), _audit(LOCK)]))


def _audit(requirements: Path) -> int:
    print(f"{requirements.name}:", flush=True)
    options = ["--requirement", str(requirements), "--no-deps", "--disable-pip", "--strict"]
    audit = [sys.executable, "-m", "pip_audit", *options, "--progress-spinner", "off"]
    return subprocess.run(audit, check=False).returncode


def has_service(url: str) -> bool:
    """Whether an index answers, within seconds, with a list of weaknesses."""
    try:
        with urlopen(url, timeout=5) as response:
            return "vulnerabilities" in json.load(response)
    except (URLError, TimeoutError, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(main())
