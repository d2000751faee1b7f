"""`python -m engine` is the command `modelway`."""

from engine.cli import main

main()
