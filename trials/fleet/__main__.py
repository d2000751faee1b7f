"""The command: `python -m trials.fleet list | NAME... | all`."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from trials.fleet import isolation
from trials.fleet.bed import Bed
from trials.fleet.faults import FAULTS
from trials.fleet.network import NotOnLoopback

_INSIDE = "--inside"
_RESOLVER = "resolv.conf"


@click.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--ports", is_flag=True, help="Use ports of loopback, also where namespaces work.")
@click.option("--keep", is_flag=True, help="Leave the folder with configs and logs.")
@click.option(_INSIDE, type=click.Path(path_type=Path), hidden=True)
def main(names: tuple[str, ...], ports: bool, keep: bool, inside: Path | None) -> None:
    """Bring a fault upon a fleet, and print whether its law held: `list`, names, or `all`."""
    if names == ("list",):
        for name, fault in FAULTS.items():
            click.echo(f"{name:<20} {fault.TITLE}")
        return
    fault_names = list(FAULTS) if names == ("all",) else list(names)
    if unknown := [name for name in fault_names if name not in FAULTS]:
        raise click.ClickException(f"no fault {unknown[0]!r}; `list` prints them")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if inside is not None:
        isolation.prepare(inside / _RESOLVER)
        sys.exit(run(fault_names[0], inside, inside / _RESOLVER))
    why_not = "asked for with --ports" if ports else isolation.why_not()
    if why_not:
        click.echo(f"Without namespaces, on ports of loopback: {why_not}\n")
    failed = [name for name in fault_names if _in_folder(name, isolated=not why_not, keep=keep)]
    if failed:
        raise click.ClickException(f"not as their law says: {', '.join(failed)}")


def _in_folder(name: str, isolated: bool, keep: bool) -> int:
    """Bring on one fault in a new folder, which goes afterwards; 0 if its law held."""
    folder = Path(tempfile.mkdtemp(prefix="fleet-"))
    folder.chmod(0o755)  # PostgreSQL runs as a user of its own
    try:
        if not isolated:
            return run(name, folder, None)
        (folder / _RESOLVER).touch()
        return isolation.run([name, _INSIDE, str(folder)])
    finally:
        if keep:
            click.echo(f"logs: {folder}\n")
        else:
            shutil.rmtree(folder, ignore_errors=True)


def run(name: str, folder: Path, resolver: Path | None) -> int:
    """Bring on a fault in a fleet of its own; 1 if its law was broken, else 0."""
    fault, bed = FAULTS[name], Bed(folder, resolver)
    try:
        report = fault.run(bed)
        errors = [error for gateway in bed.gateways for error in gateway.errors()]
        text = f"{len(errors)} errors in the logs of the gateways {''.join(errors[:1])[:300]}"
        report.law(not errors, "log", text.strip())
    except NotOnLoopback as error:
        click.echo(f"{name}: left out, {error}\n")
        return 0
    except (OSError, subprocess.SubprocessError, AssertionError) as error:
        click.echo(f"{name}: the bed failed: {error}\n")
        return 1
    finally:
        bed.close()
    click.echo(report.text(name, fault.TITLE))
    return 1 if report.broken else 0


if __name__ == "__main__":
    main()
