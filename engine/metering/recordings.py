"""How long recordings are: by the head of a file, and by the last cue of subtitles.

Transcriptions are paid by the second, and many answers do not say how many there were: those in
`text`, `srt` and `vtt`, and those of most servers in `json`.
"""

from __future__ import annotations

import re
import struct

from engine.dialects.interface.usage_counts import MAX_SECONDS

HEAD = 65_536
"""The bytes at the start of a file that are read."""

CUES = 4_096
"""The bytes at the end of subtitles among which the last cue is searched."""

BYTES_PER_SECOND = 8_000
"""Of a file whose head does not say it: 64 kbit/s, between speech in Opus and music in MP3."""

_MOST = 192_000 * 2 * 4
"""The most bytes of a second that a head is believed: stereo of 192 kHz, in 32 bits."""

_MOST_PACKED = 40_000
"""The most of a compressed recording: 320 kbit/s."""

_WAV_FORMAT = re.compile(rb"RIFF....WAVE.{0,4096}?fmt .{4}(.{16})", re.DOTALL)
_SAMPLES, _LOGARITHMIC = (0x0001, 0x0003, 0xFFFE), (0x0006, 0x0007)
"""The formats of WAV whose samples are not compressed, and those with one byte for each."""

_FLAC_INFO = re.compile(rb"fLaC[\x00\x80]\x00\x00\x22.{10}(.{8})", re.DOTALL)
_MP3_FRAME = re.compile(rb"\xff[\xe2\xe3\xf2\xf3\xfa\xfb]([\x10-\xef])")
_KILOBITS = {
    True: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    False: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""The bit rates of layer III, of MPEG 1 and of MPEG 2 (ISO/IEC 11172-3 and 13818-3)."""

_CUE = re.compile(rb"-->\s*+(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.](\d{1,3}))?")


def seconds_of(head: bytes, size: int) -> float:
    """The seconds of a recording of `size` bytes that begin with the head: exact for WAV and FLAC,
    by the first bit rate for MP3, and by BYTES_PER_SECOND for any other. A caller may write a head
    that makes them few, so no recording has more bytes of a second than its samples would need."""
    if (stream_info := _FLAC_INFO.match(head)) is not None:
        numbers = int.from_bytes(stream_info[1], "big")
        rate, samples = numbers >> 44, numbers & (1 << 36) - 1
        if rate and samples:
            bits = ((numbers >> 41 & 7) + 1) * ((numbers >> 36 & 31) + 1)
            fewest = size / min(rate * bits / 8, _MOST)
            return min(max(samples / rate, fewest), MAX_SECONDS)
    return min(size / _byte_rate(head), MAX_SECONDS)


def _byte_rate(head: bytes) -> int:
    """The bytes of a second."""
    if (wave := _WAV_FORMAT.match(head)) is not None:
        return _wave_rate(*struct.unpack("<HHIIHH", wave[1])) or BYTES_PER_SECOND
    if head[:3] == b"ID3" or head[:1] == b"\xff":
        frame = _MP3_FRAME.search(head, _tag_size(head))
        if frame is not None:
            is_first = head[frame.start() + 1] >= 0xFA
            return _KILOBITS[is_first][frame[1][0] >> 4] * 125
    return BYTES_PER_SECOND


def _wave_rate(kind: int, channels: int, rate: int, byte_rate: int, _block: int, bits: int) -> int:
    """The bytes of a second of a WAV: by its samples, as decoders read them, where they are not
    compressed."""
    if kind in _SAMPLES:
        return min(rate * channels * bits // 8, _MOST)
    if kind in _LOGARITHMIC:
        return min(rate * channels, _MOST)
    return min(byte_rate, _MOST_PACKED)


def _tag_size(head: bytes) -> int:
    """The size of the ID3 tag at the start of a file, which may hold a picture: 0 without one, or
    if it is longer than the head."""
    if head[:3] != b"ID3" or len(head) < 10:
        return 0
    size = 0
    for byte in head[6:10]:  # seven bits each
        size = size << 7 | byte & 0x7F
    return size + 10 if size + 10 < len(head) else 0


def last_cue(end: bytes) -> float | None:
    """Where the last cue of subtitles (SRT, WebVTT) ends, in seconds, by their last bytes; None for
    a text without cues."""
    cues = _CUE.findall(end)
    if not cues:
        return None
    hours, minutes, seconds, fraction = cues[-1]
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    thousandths = int(fraction.ljust(3, b"0"))
    return min(whole + thousandths / 1000, MAX_SECONDS)
