"""Build the image of deploy/Containerfile twice, run it read-only, and check what it promises.

    python -m trials.image                             # on stand_in.Containerfile: no registry
    python -m trials.image --base debian:trixie-slim

It is started as the chart's pod and as the service of compose as well. It needs root, a mirror of
Debian and its packages buildah, podman, runc, debootstrap, postgresql and redis-server, and PyPI.
Images stay in ~/.cache/modelway/image; `--reuse` runs the one that was built last.
"""
