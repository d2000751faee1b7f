"""Try Modelway as a new user does, on an empty machine: a chroot that debootstrap makes.

    python -m benchmarks.empty_machine                       # all parts, and then it is removed
    python -m benchmarks.empty_machine compose --keep        # one of them
    python -m benchmarks.empty_machine readme --tests tests/plan

It has what HEAD of the repository has. `readme` runs the commands of README.md, `tutorial` its page
word for word, `installers` pipx and uv, `compose` the services of deploy/compose.yaml as Debian
packages with the files of deploy/compose. It needs root, debootstrap, a mirror of Debian, and PyPI.
"""
