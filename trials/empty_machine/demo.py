"""On the empty machine: start `modelway demo`, paste the command that it prints, press Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys


def main(*words: str) -> None:
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not lines or not lines[-1].startswith("Model names like"):
            line = process.stdout.readline()
            if not line:
                sys.exit(f"{' '.join(words)} printed only:\n{''.join(lines)}")
            lines.append(line)
        text = "".join(lines)
        curl = text[text.index("  curl -N") :].partition("\n\n")[0]
        pasted = ["bash", "-c", curl]
        answer = subprocess.run(pasted, capture_output=True, text=True, check=True).stdout
        if not answer.rstrip().endswith("data: [DONE]"):
            sys.exit(f"{curl}\nprints\n{answer}")
        process.send_signal(signal.SIGINT)
        code = process.wait(timeout=20)
    print(f"{' '.join(words)}: {answer.count('data: ')} events, ended with {code}")
    sys.exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
