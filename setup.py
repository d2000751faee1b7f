"""The documents, the schema and the shipped gateway.yaml travel in the wheel as engine/shipped/."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
SHIPPED = ("gateway.yaml", "objects.yaml", "openapi", "schemas")


class BuildWithDocuments(build_py):
    """Copy what stands at the repository's top level into the package that is built."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        home = Path(self.build_lib) / "engine" / "shipped"
        shutil.rmtree(home, ignore_errors=True)
        for name in SHIPPED:
            source = HERE / name
            for file in sorted(source.rglob("*.*")) if source.is_dir() else [source]:
                made = home / file.relative_to(HERE)
                made.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, made)


setup(cmdclass={"build_py": BuildWithDocuments})
