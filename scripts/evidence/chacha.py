"""Headlight's random streams from the definition of ChaCha.

ChaCha8 with the seed as a 64-bit little-endian key (24 zero bytes after it), a 64-bit block counter, and the stream's number in place of
the nonce; integers by masked rejection.
"""

import itertools
import struct

import numpy as np

STREAMS = {"weights": 0, "shuffle": 1, "data": 2, "split": 3, "label_noise": 6, "fresh": 7, "inputs": 11, "dropout": 12}


def block(key: bytes, counter: int, stream: int, rounds: int = 8) -> list[int]:
    return mixed(key, struct.unpack("<4I", struct.pack("<2Q", counter, stream)), rounds)


def mixed(key: bytes, last: tuple, rounds: int = 8) -> list:
    """The block of a key and of four words, each of which can be an array of 64-bit numbers."""
    start = [*struct.unpack("<4I", b"expand 32-byte k"), *struct.unpack("<8I", key), *last]
    x = start[:]

    def rotate(value, bits):
        return ((value << bits) | (value >> (32 - bits))) & 0xFFFFFFFF

    def quarter(a, b, c, d):
        for first, second, third, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[first] = (x[first] + x[second]) & 0xFFFFFFFF
            x[third] = rotate(x[third] ^ x[first], bits)

    for _ in range(rounds // 2):
        for i in range(4):
            quarter(i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return [(a + b) & 0xFFFFFFFF for a, b in zip(x, start)]


def words(seed: int, stream: str, first_word: int = 0):
    key = struct.pack("<Q", seed) + bytes(24)
    for counter in itertools.count(first_word // 16):
        yield from block(key, counter, STREAMS[stream])


def dropout_numbers(seed: int, step: int, place: int, samples: int, count: int) -> np.ndarray:
    """The 16-bit numbers of the first values of a place in a step. `[sample, value]`"""
    blocks, own = np.arange(-(-count // 32), dtype=np.uint64), np.arange(samples, dtype=np.uint64)[:, None]
    key = struct.pack("<Q", seed) + bytes(24)
    words = np.stack(mixed(key, (blocks, step, STREAMS["dropout"] | place << 8, own)), -1).astype("<u4")
    return words.reshape(samples, -1).view("<u2")[:, :count]


def below(n: int, source) -> int:
    mask = (1 << (n - 1).bit_length()) - 1
    return 0 if n == 1 else next(word & mask for word in source if word & mask < n)


def shuffled(count: int, source) -> list[int]:
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = below(last + 1, source)
        order[last], order[chosen] = order[chosen], order[last]
    return order
