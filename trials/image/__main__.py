"""See `trials.image`."""

from __future__ import annotations

import argparse
import json
import sys

from trials import image as package
from trials.image.built import build_twice, check_image, stand_in
from trials.image.commands import FAILURES, IMAGE, podman
from trials.image.runs import check_alone, check_compose, check_pod


def main() -> None:
    parser = argparse.ArgumentParser(description=package.__doc__)
    parser.add_argument("--base", help="an image of Debian, in place of the stand-in")
    parser.add_argument("--reuse", action="store_true", help="run the image that was built last")
    arguments = parser.parse_args()
    if not arguments.reuse:
        build_twice(arguments.base or stand_in())
    (image,) = json.loads(podman("image", "inspect", IMAGE))
    check_image(image)
    check_alone(image["Healthcheck"]["Test"][1:])
    check_pod()
    check_compose()
    sys.exit(f"{len(FAILURES)} promises do not hold" if FAILURES else 0)


if __name__ == "__main__":
    main()
