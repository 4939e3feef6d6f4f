"""Computes Headlight's random streams from the definition of ChaCha, for the pinned values of
crates/data/tests/generate.rs, noise.rs, fresh.rs and numbers.rs.

    python scripts/checks/chacha_expectations.py            # prints the values
    python scripts/checks/chacha_expectations.py --check    # checks that the test has them

ChaCha8 with the seed as a 64-bit little-endian key (24 zero bytes after it), a 64-bit block
counter, and the stream's number in place of the nonce; integers by masked rejection.
"""

import itertools
import pathlib
import struct
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "crates" / "data" / "tests"

STREAMS = {"weights": 0, "shuffle": 1, "data": 2, "split": 3, "label_noise": 6, "fresh": 7, "measures": 8}


def block(key: bytes, counter: int, stream: int, rounds: int = 8) -> list[int]:
    constants = struct.unpack("<4I", b"expand 32-byte k")
    start = [*constants, *struct.unpack("<8I", key), *struct.unpack("<4I", struct.pack("<2Q", counter, stream))]
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


def below(n: int, source) -> int:
    mask = (1 << (n - 1).bit_length()) - 1
    return 0 if n == 1 else next(word & mask for word in source if word & mask < n)


def shuffled(count: int, source) -> list[int]:
    order = list(range(count))
    for last in range(count - 1, 0, -1):
        chosen = below(last + 1, source)
        order[last], order[chosen] = order[chosen], order[last]
    return order


def main() -> None:
    data = words(7, "data")
    rows = [[0] + [1 + below(10, data) for _ in range(4)] for _ in range(3)]
    order = shuffled(8, words(0, "shuffle", first_word=1 << 40))
    pairs = [[index // 3, index % 3] for index in shuffled(9, words(7, "split"))]
    noise = [sample for sample in range(40) if next(words(3, "label_noise", first_word=sample << 10)) < 1 << 30]
    step = words(7, "fresh", first_word=5 << 40)
    fresh = [[0] + [1 + below(10, step) for _ in range(4)] for _ in range(3)]
    measures = words(7, "measures")
    numbers = [below(n, measures) for n in (59, 59, 59, 11, 2, 1, 59)]

    for test, name, kind, values in (
        ("generate.rs", "PINNED_ROWS", "u32", sum(rows, [])),
        ("generate.rs", "PINNED_ORDER", "u32", order),
        ("generate.rs", "PINNED_PAIRS", "u32", sum(pairs, [])),
        ("fresh.rs", "PINNED_FRESH", "u32", sum(fresh, [])),
        ("numbers.rs", "PINNED_NUMBERS", "u32", numbers),
        ("noise.rs", "PINNED_NOISE", "usize", noise),
    ):
        line = f"const {name}: [{kind}; {len(values)}] = {values};"
        if sys.argv[1:] == ["--check"]:
            assert line in (TESTS / test).read_text(), f"{test} lacks this line: {line}"
        print(line)


if __name__ == "__main__":
    main()
