"""CPU of commands, as a user waits for them: `python -m benchmarks.commands [runs]`.

User and system time of the whole process, in milliseconds: the least and the median of several
runs, after one that compiles the modules. The commands take turns, so that other load of the
machine affects all of them. The gate checks which modules a command imports instead:
tests/cli/test_command_group.py.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_COMMANDS = ("--help", "version", "token new x", "token --help", "check", "check --second-opinion")
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")


def main(runs: int) -> None:
    """Print the CPU of each command."""
    times: dict[str, list[float]] = {command: [] for command in _COMMANDS}
    with tempfile.TemporaryDirectory() as folder:
        environment = _environment(folder)
        for number in range(runs + 1):
            for command, measured in times.items():
                milliseconds = cpu(command.split(), environment)
                if number:
                    measured.append(milliseconds)
    for command, measured in times.items():
        median = statistics.median(measured)
        print(f"modelway {command:24} least {min(measured):5.0f} ms  median {median:5.0f} ms")


def cpu(words: Sequence[str], environment: Mapping[str, str]) -> float:
    """The CPU of a command in milliseconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    program = [sys.executable, str(ROOT / "modelway.py"), *words]
    subprocess.run(program, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def _environment(folder: str) -> dict[str, str]:
    """Compiled modules are kept, as in an installed program, and no build in CI is assumed."""
    left_out = ("CI", "PYTHONDONTWRITEBYTECODE", "MODELWAY_CONFIG")
    variables = {name: value for name, value in os.environ.items() if name not in left_out}
    return variables | dict.fromkeys(_KEYS, "example") | {"PYTHONPYCACHEPREFIX": folder}


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
