"""What a translated chat costs more than a relayed one, for all twelve crossings of languages.

    python -m benchmarks.translation engine [TURNS]   CPU of the translation alone, in this process
    python -m benchmarks.translation counts           instructions of a worker under callgrind
    python -m benchmarks.translation gateway [TURNS]  CPU of a real gateway's worker
    python -m benchmarks.translation sizes [PARTS]    whether the cost grows faster than the size
    python -m benchmarks.translation state            bytes that one stream holds

Targets: 150 us of CPU for a chat of 1 KB and its answer, 20 us for a paced event of a stream.
Read `chats.py` first. Linux only.
"""
