"""Distributions with plug-ins, installed without pip: the folder that Python finds them by."""

from __future__ import annotations

import importlib
from pathlib import Path

from engine.values.installed_plugins import installed_plugins


def install(site: Path, name: str, entry_points: str, version: str = "1.5") -> None:
    """Install a distribution with this text of entry points in a folder of `sys.path`."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (folder / "entry_points.txt").write_text(entry_points)
    importlib.invalidate_caches()
    installed_plugins.cache_clear()
