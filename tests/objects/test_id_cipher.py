"""AES-SIV of sealed ids."""

from engine.objects.id_cipher import IdCipher

KEY, OTHER = bytes(64), bytes([1]) * 64


def test_what_a_key_encrypts_it_decrypts():
    cipher = IdCipher(KEY)
    data = cipher.encrypt(b"file-1", [b"file"])
    assert b"file-1" not in data
    assert cipher.decrypt(data, [b"file"]) == b"file-1"


def test_equal_data_is_encrypted_equally():
    assert IdCipher(KEY).encrypt(b"a", [b"file"]) == IdCipher(KEY).encrypt(b"a", [b"file"])


def test_another_key_or_associated_data_or_a_changed_byte_decrypts_nothing():
    data = IdCipher(KEY).encrypt(b"file-1", [b"file"])
    changed = bytes([data[0] ^ 1]) + data[1:]
    results = [
        IdCipher(OTHER).decrypt(data, [b"file"]),
        IdCipher(KEY).decrypt(data, [b"batch"]),
        IdCipher(KEY).decrypt(changed, [b"file"]),
        IdCipher(KEY).decrypt(b"short", [b"file"]),
    ]
    assert results == [None] * 4
