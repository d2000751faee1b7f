"""Sessions with `choose: {affinity: $request.header.x-session}`; then one of eight replicas leaves.

Law: while nothing changes, a session meets the same replica in 99 % of its requests. When one
leaves, its sessions move, about 1/8 of all, and no other. No request is lost.
"""

from __future__ import annotations

from collections import Counter, defaultdict

from trials.fleet.bed import Bed, through
from trials.fleet.load import Load, Result
from trials.fleet.report import Report

TITLE = "sessions keep their replica; one of eight leaves"
_SESSIONS, _REQUESTS = 160, 3200
_CHOOSE = {"affinity": "$request.header.x-session"}


def run(bed: Bed) -> Report:
    report = Report()
    victim = bed.start_replicas()[3]
    gateways = bed.start_gateways(bed.config(model={"choose": _CHOOSE}))
    front = bed.start_front()
    assert len(gateways) == 3  # sessions keep their replica whichever instance they meet
    target = through(front, sessions=_SESSIONS)
    with Load(target, callers=8, most=_REQUESTS) as load:
        load.join()
    homes = _homes(load.results)
    matches = sum(result.replica == homes[result.session] for result in load.results)
    share = matches / len(load.results)
    text = (
        f"{share:.2%} of {len(load.results):,} requests met their session's replica, at least 99 %"
    )
    report.law(share >= 0.99, "kept", text)
    victim.process.kill()
    with Load(target, callers=8, most=_REQUESTS) as after:
        after.join()
    report.requests(load.results + after.results)
    new = _homes(after.results)
    moved_sessions = {session for session in homes if new[session] != homes[session]}
    orphans = {session for session, home in homes.items() if home == victim.name}
    text = (
        f"{len(moved_sessions)} of {_SESSIONS} sessions, {len(orphans)} were at the one that left"
    )
    report.law(len(moved_sessions ^ orphans) <= _SESSIONS // 100, "moved", text)
    counts = Counter(homes.values())
    text = f"{min(counts.values())} to {max(counts.values())} of {_SESSIONS} sessions a replica"
    report.law(len(counts) == 8, "spread", text)
    return report


def _homes(results: list[Result]) -> dict[str, str]:
    """The replica that each session met most often."""
    counters: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        if result.success:
            counters[result.session][result.replica] += 1
    return {session: counts.most_common(1)[0][0] for session, counts in counters.items()}
