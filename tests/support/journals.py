"""Entries of the ledger, and journals that hold some."""

import time

from engine.stores.ledger.journal import Journal
from engine.stores.ledger.journal_segments import files
from engine.stores.ledger_entry import Entry, decode, encode


def append_entries(journal, count, start=0):
    for number in range(start, start + count):
        journal.append(Entry(id=f"req_{number}", time=float(number)))


def unowned_file(folder, count, name="x", tail=b"", created=None):
    """A file of a worker that is dead, which began it at the time `created`."""
    journal = Journal(folder, clock=(lambda: created) if created else time.time)
    for number in range(count):
        journal.append(Entry(id=f"{name}_{number}", time=1.0))
    path = journal.live.path
    journal.close()
    with path.open("ab") as file:
        file.write(tail)
    return path


ENTRY = Entry(
    id="req_1",
    time=1_700_000_000.25,
    token="team-a",
    operation="openai.createChatCompletion",
    model_asked='gpt "4o" \\ %s ü 😀',
    model_served="gpt-4o-2024-11-20",
    upstream="openai",
    status=200,
    input=2**40,
    output=340,
    cached=100,
    reasoning=7,
    images=1,
    seconds=1.5,
    characters=9,
    source="upstream",
    cost=2**62,
    currency="USD",
    first_byte=0.4312,
    duration=2.5,
    bytes_in=10,
    bytes_out=20,
    stream=True,
    attempts=2,
    cache_write=11,
    cache_write_1h=3,
    audio_input=12,
    cached_audio=5,
    audio_output=13,
    image_input=14,
    cached_image=6,
    image_output=15,
    price="groq 2026-07-02",
)


def entry(number=1, **more):
    return Entry(id=f"req_{number}", time=1.0, **more)


def ids(folder):
    """The ids in all files, by when those were begun."""
    rows = [decode(line) for path in files(folder) for line in path.read_bytes().splitlines()]
    return sorted(row[0] for row in rows)


def row(number):
    return encode(Entry(id=f"req_{number}", time=float(number)))
