"""Upstreams, and the targets at them: what is known of each while a gateway runs. `connect` builds
an upstream at start-up, `target` is what a request needs of both. Read `target.py` first.
"""
