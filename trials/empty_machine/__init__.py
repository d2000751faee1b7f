"""Try Modelway as a new user does, on an empty machine: a folder that debootstrap makes.

    python -m trials.empty_machine                       # all parts, and then it is removed
    python -m trials.empty_machine tutorial --keep       # one of them
    python -m trials.empty_machine readme --tests tests/plan

It has what HEAD of the repository has. In a chroot `readme` runs the commands of README.md as a
plain user, the whole gate included, `tutorial` its page word for word, `installers` pipx and uv.
Booted, with systemd as its first process, `systemd` does what docs/how-to/systemd.md and
rolling-restart.md say, under load and over reboots, and `docker` what containers.md says of
deploy/compose.yaml. It needs root, debootstrap, a mirror of Debian, and PyPI; to boot also
systemd-container and slirp4netns. The kernel is always that of the machine around it.
"""
