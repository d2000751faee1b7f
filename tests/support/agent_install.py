"""Install every agent of docs/how-to/agents.md: `python -m tests.support.agent_install`.

Those of npm, with a node that all of them accept, take 2 GB; those of PyPI have environments of
their own beside them. aider needs a Python before 3.13.
"""

from __future__ import annotations

import shutil
import subprocess
import sys

from tests.support.agents import AIDER_PYTHON, CASES, FOLDER, PYTHON


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copy(CASES / "package.json", FOLDER)
    npm = ["npm", "install", "--prefix", FOLDER, "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(npm, check=True)
    for folder, requirements in ((PYTHON, "requirements.txt"), (AIDER_PYTHON, "aider.txt")):
        subprocess.run([sys.executable, "-m", "venv", folder.parent], check=True)
        pip = [folder / "python", "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--requirement", CASES / requirements], check=True)


if __name__ == "__main__":
    main()
