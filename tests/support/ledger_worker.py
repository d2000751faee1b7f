"""A worker that only appends rows to the journal and ships them, until it is killed.

`python -m tests.support.ledger_worker FOLDER URL NAME` prints the id of each row after
`append` returns: from then on the row must not be lost.
"""

# ruff: noqa: E402 - gevent patches first, as in a worker
from gevent import monkey

monkey.patch_all()

import os
import sys
from pathlib import Path

import gevent

from engine.stores.database.open_database import open_database
from engine.stores.database.usage import UsageTable
from engine.stores.ledger.journal import Journal
from engine.stores.ledger.shipper import Shipper
from engine.stores.ledger_entry import Entry


def main() -> None:
    folder, url, name = sys.argv[1:]
    journal = Journal(Path(folder), max_bytes=20_000, max_age=0.5)
    table = UsageTable(open_database(url))
    shipper = Shipper(
        journal.folder,
        table,
        batch=100,
        interval=0.02,
        fill_interval=0.05,
        longest_wait=0.1,
        timeout=5.0,
    )
    shipper.start()
    number = 0
    while True:
        for _ in range(3):
            number += 1
            journal.append(Entry(id=f"{name}-{number}", time=1.0, model_asked="x" * 200, cost=1))
            os.write(1, b"%s-%d\n" % (name.encode(), number))
        journal.turn()
        gevent.sleep(0.02)


if __name__ == "__main__":
    main()
