"""What it was measured on."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def machine() -> str:
    """Processor, cores, kernel and Python."""
    model = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    name = model[1] if model else platform.machine()
    return f"{name}, {os.cpu_count()} cores, Linux {platform.release()}, {_python()}"


def today() -> str:
    """The date (UTC) as 2027-01-31."""
    return datetime.now(UTC).date().isoformat()


def tools() -> str:
    """Versions of the load generator and of the compiler of the upstream."""
    wrk = subprocess.run(["wrk", "-v"], capture_output=True, text=True, check=False)
    gcc = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True)
    return f"wrk {wrk.stdout.split()[1]}, {gcc.stdout.splitlines()[0]}"


def _python() -> str:
    return f"{platform.python_implementation()} {platform.python_version()}"
