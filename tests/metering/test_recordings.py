"""The seconds of recordings and of subtitles."""

import io
import struct
import wave

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.metering.recordings import BYTES_PER_SECOND, HEAD, last_cue, seconds_of


def wav(seconds, rate=8000):
    file = io.BytesIO()
    with wave.open(file, "wb") as writer:
        writer.setnchannels(1)
        writer.setsampwidth(2)
        writer.setframerate(rate)
        writer.writeframes(b"\0\0" * rate * seconds)
    return file.getvalue()


def flac(rate, samples):
    numbers = (rate << 44 | samples).to_bytes(8, "big")
    return b"fLaC\0\0\0\x22" + b"\x10\0\x10\0" + b"\0" * 6 + numbers + b"\0" * 16


def tagged(audio, picture):
    size = bytes(picture >> shift & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\4\0\0" + size + b"\xff\xfb\x10\0" * (picture // 4) + audio


def wav_head(kind, rate, byte_rate, bits):
    numbers = struct.pack("<IHHIIHH", 16, kind, 1, rate, byte_rate, 1, bits)
    return b"RIFF\xff\xff\xff\xffWAVEfmt " + numbers + b"data"


MPEG_1, MPEG_2 = b"\xff\xfb\x90\xc4", b"\xff\xf3\x40\xc4"  # 128 and 32 kbit/s


@pytest.mark.parametrize(
    ("head", "size", "seconds"),
    [
        (wav(3), None, 3),
        (wav(1, 44_100), None, 1),
        (wav(3), 16_000 * 600, 600),
        (flac(16_000, 16_000 * 90), 100_000, 90),
        (flac(16_000, 0), 80_000, 80_000 / BYTES_PER_SECOND),
        (MPEG_1, 16_000 * 60, 60),
        (MPEG_2, 4_000 * 60, 60),
        (tagged(MPEG_1, 4_000), 16_000 * 60, 60),
        (tagged(b"", 400_000)[:HEAD], 16_000 * 60, 16_000 * 60 / 4_000),
        (b"\0\0\0\x20ftypM4A ", 80_000, 10),
        (b"OggS", 80_000, 10),
        (b"", 0, 0),
    ],
)
def test_the_seconds_of_a_file(head, size, seconds):
    assert seconds_of(head, size or len(head)) == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize(
    ("head", "size", "fewest"),
    [
        (wav_head(1, 16_000, 0xFFFFFFFF, 16), 32_000 * 600, 600),
        (wav_head(7, 8_000, 0xFFFFFFFF, 8), 8_000 * 600, 600),
        (wav_head(0x55, 16_000, 0xFFFFFFFF, 0), 40_000 * 600, 600),
        (wav_head(1, 0xFFFFFFFF, 1, 0xFFFF), 25_000_000, 16),
        (wav_head(1, 16_000, 32_000, 0), 8_000, 1),
        (flac(16_000, 15 << 36 | 1), 32_000 * 600, 600),  # of 16 bits
        (flac(0xFFFFF, 255 << 36 | 1), 25_000_000, 16),
    ],
)
def test_no_head_of_a_caller_makes_a_long_recording_short(head, size, fewest):
    assert fewest <= seconds_of(head, size) < fewest * 1.1


@given(st.binary(max_size=300), st.sampled_from([b"", b"RIFF", b"fLaC", b"ID3", b"\xff\xfb"]))
def test_any_bytes_have_some_seconds(data, start):
    assert seconds_of(start + data, len(data)) >= 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (b"1\n00:00:01,000 --> 00:00:04,440\nHi", 4.44),
        (b"WEBVTT\n\n00:01.000 --> 01:04.5 align:start\nHi", 64.5),
        (b"00:00:01,000 --> 01:00:00,000\n\n2\n00:00:01,000 --> 02:00:00,001\nHi", 7200.001),
        (b"an arrow --> of text", None),
        (b"", None),
    ],
)
def test_the_end_of_the_last_cue(text, seconds):
    assert last_cue(text) == seconds
