"""On the empty machine: docs/tutorial.md, word for word, by the reader that its test has."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from tests.support.tutorial import Shell, prints, steps


def main() -> None:
    day = Path("/day")
    day.mkdir(exist_ok=True)
    shell = Shell(day, dict(os.environ))
    ran = 0
    for step in steps(Path("docs/tutorial.md").read_text("utf-8")):
        if step.name:
            (day / step.name).write_text(step.text, "utf-8")
            continue
        output = shell.run(step.text)
        ran += 1
        if not prints(step, output):
            sys.exit(f"$ {step.text}\n{output}")
    shell.close()
    print(f"{ran} commands print what the page says")


if __name__ == "__main__":
    main()
