"""What a request and a streamed event take, counted instead of timed, so that a check can rely on
it.

    python -m benchmarks.counts                     compare with the record; fail if one grew by 5 %
    python -m benchmarks.counts --write             renew the record of this Python
    python -m benchmarks.counts --against FOLDER    compare with another checkout, instructions too
"""
