"""Counters of many machines in Redis or Valkey. Read `partition.py` first, which takes all limits
of a request; `client.py` has the connections to a server, `scripts.py` the Lua scripts.

Theory of operation. A request takes once, by one script: all of its limits or none. What becomes of
the take decides what is known of the counts:

    answered       taken or denied; the caller has a receipt
    Unsent         nothing was executed: the server is away, or it refused; nothing to undo
    Pending        sent, and late: the request is decided without it (`counters/fallback.py`), and
                   when the answer comes, what it took is reverted
    broken         sent, and the connection broke: slots are released, which is harmless if none
                   were taken; what was taken of a window stays taken

`settle` changes a take to what a request has cost, and releases its slots. That is a correction:
nobody waits for it. The next take carries a few of them before its own keys; otherwise the
greenlet of the queue (`corrections.py`) sends them in batches. It renews the leases of slots as
well. In a cluster (`counters.py`) the limits of a request may lie in several hash tags: each is a
take of its own, one after the other, and a denial gives the earlier ones back as corrections.

Invariants:

- Redis lets no more than the amount of a limit pass, whatever is late, broken or sent twice: doubt
  is counted against the caller.
- A correction of a window is executed at most once: it is sent again only if it was Unsent. The
  release of a slot is idempotent, and sent until it is answered; else its lease ends.
- Corrections keep their order: none passes with a take while a batch is on its way, and a renewal
  never follows the release of its slot.
- All requests go through hash tags in the same order.
"""
