"""`tox -e release -- 0.2.0`: the changelog, the version, and distributions that were tried."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import click

from tools.release.changelog import MAX_WORDS, gather
from tools.release.distributions import PYTHONS, build, interpreters, smoke_test
from tools.release.readme import index_readme, repository_of
from tools.release.version import require_version, set_version

ROOT = Path(__file__).resolve().parents[2]


@click.command()
@click.argument("version")
@click.option(
    "--copy", type=click.Path(path_type=Path), help="Work on a copy of the repository, made there."
)
@click.option("--only-files", is_flag=True, help="Change the files; build nothing.")
def main(version: str, copy: Path | None, *, only_files: bool) -> None:
    """Prepare the release VERSION: gather changes/ into CHANGELOG.md, set the version, build and
    try the distributions. Nothing is committed, tagged or uploaded."""
    try:
        require_version(version)
        root = ROOT if copy is None else copy_of_repository(copy)
        fragments, words = gather(root, version, datetime.now(UTC).date())
        files = set_version(root, version)
        click.echo(f"{fragments} fragments in CHANGELOG.md; {version} in {', '.join(files)}")
        if words > MAX_WORDS:
            click.echo(
                f"CHANGELOG.md: the section has {words} words, more than the {MAX_WORDS} of a page:"
                " merge entries, and delete those that a later one replaces"
            )
        if not only_files:
            _distributions(root, version)
    except ValueError as error:
        raise click.ClickException(str(error)) from None


def copy_of_repository(folder: Path) -> Path:
    """The files that git knows, and new ones, in a folder that must not exist yet."""
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.check_output(listed, cwd=ROOT, text=True).split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder


def _distributions(root: Path, version: str) -> None:
    if repository_of(root) is None:
        click.echo(
            "pyproject.toml has no Repository under [project.urls]: on a package index README.md "
            "has names of files in place of links"
        )
    with index_readme(root, version):
        archives = build(root, root / "dist")
    present = dict(interpreters())
    for python_version in PYTHONS:
        if python_version not in present:
            click.echo(f"Python {python_version}: not on this machine, not tried")
            continue
        for archive in archives:
            smoke_test(present[python_version], archive, version)
            click.echo(f"Python {python_version}: {archive.name} works")
    click.echo(f"{root / 'dist'}: sign SHA256SUMS, see docs/explanation/releases.md")


if __name__ == "__main__":
    main()
