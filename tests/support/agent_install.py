"""Install every agent of docs/how-to/agents.md: `python -m tests.support.agent_install`.

Those of npm, with a node that all of them accept, take 2 GB; those of PyPI have an environment of
their own beside them.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from tests.support.agents import CASES, FOLDER, PYTHON


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copy(CASES / "package.json", FOLDER)
    npm = ["npm", "install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, check=True)
    subprocess.run([sys.executable, "-m", "venv", PYTHON.parent], check=True)
    pip = [PYTHON / "python", "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--requirement", CASES / "requirements.txt"], check=True)


if __name__ == "__main__":
    main()
