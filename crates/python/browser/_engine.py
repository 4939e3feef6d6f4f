"""The engine of `crates/lab`, in the browser's WebAssembly: one request, one answer.

A message is the length of its JSON, the JSON, whose length is a multiple of four, and float32 numbers (`message.rs`).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

if sys.platform != "emscripten":
    raise ImportError(
        "this is the wheel of headlight-attention for Pyodide, Python in the browser, and this Python is not in a browser; take the wheel for this machine with "
        "`pip install --force-reinstall headlight-attention`, or, where there is none, build one, which needs Rust (https://rustup.rs), with "
        "`pip install --force-reinstall --no-binary headlight-attention headlight-attention`"
    )

import js  # noqa: E402
from pyodide.ffi import JsException, to_js  # noqa: E402

# A function of a module, whose body uses a vector of SIMD: i8x16.popcnt(i8x16.splat(0)).
_SIMD = bytes.fromhex("0061736d 01000000 01050160 00017b 03020100 0a0a0108 004100fd0f fd620b")

Floats: TypeAlias = "memoryview[float]"
"""Numbers of float32: a memoryview of one axis with the format `f`."""
NONE: Floats = memoryview(b"").cast("f")


class Diverged(ArithmeticError):
    """The loss became NaN or infinite."""


NUMBERS, WORDS = "lab", "lab_words"
"""The module for samples of numbers, and that for texts. Each lacks what only the other needs."""


def packed(module: str) -> bytes:
    """A module as LZMA packs it, which is also how a page holds it."""
    return files(__package__).joinpath(f"{module}.wasm.lzma").read_bytes()


@cache
def _compiled(module: str) -> Any:
    """A module, compiled once."""
    return js.WebAssembly.Module.new(unpacked(module))


def unpacked(module: str) -> Any:
    """The bytes of a module, as JavaScript has them."""
    try:
        import lzma
    except ImportError:
        # Before Pyodide 314, it was a package of its own. A page has what unpacks its engine.
        script = files(__package__).joinpath("lzma.js").read_text(encoding="utf-8").replace("export function", "function")
        return js.Function.new(f"{script}\nreturn unlzma;")()(to_js(packed(module)))
    return to_js(lzma.decompress(packed(module), format=lzma.FORMAT_ALONE))


def check_simd() -> None:
    """Checks that the browser has what the module needs.

    Raises:
        ImportError: It has no WebAssembly SIMD.
    """
    if not js.WebAssembly.validate(to_js(_SIMD)):
        raise ImportError(
            "headlight needs WebAssembly SIMD, which this browser does not have, or which is turned off in it: use Chrome 91, Firefox 89 or Safari 16.4, or later"
        )


class Engine:
    """An instance of a module."""

    def __init__(self, module: str) -> None:
        self._module = module
        self._exports = self._fresh()

    def _fresh(self) -> Any:
        return js.WebAssembly.Instance.new(_compiled(self._module)).exports

    def ask(self, head: dict[str, Any], floats: Floats | Iterable[Floats] = NONE, most: int | None = None) -> tuple[dict[str, Any], Floats]:
        """The answer to a request: its JSON, and its numbers, or the first `most` of them.

        Raises:
            ValueError: The module refuses the request; the message is its sentence.
            MemoryError: It stopped.
        """
        try:
            answer, numbers = self._answer(head, [floats] if isinstance(floats, memoryview) else list(floats), most)
        except JsException as error:
            # What it was doing is lost, and with it the order of its memory.
            self._exports = self._fresh()
            raise MemoryError(f"the engine stopped; this may need more memory than the browser gives it ({error})") from None
        if "error" in answer:
            message = answer["error"].replace("the request cannot be read", "the config cannot be read")
            raise Diverged(message) if message.startswith("training diverged") else ValueError(message)
        return answer, numbers

    def _answer(self, head: dict[str, Any], floats: list[Floats], most: int | None) -> tuple[dict[str, Any], Floats]:
        text = json.dumps(head).encode()
        text += b" " * (-len(text) % 4)
        request = b"".join([len(text).to_bytes(4, "little"), text, *floats])
        at = self._exports.request(len(request))
        self._bytes(at, len(request)).assign(request)
        start = self._exports.respond()
        length = int.from_bytes(self._bytes(start, 4).to_bytes(), "little")
        answer: dict[str, Any] = json.loads(self._bytes(start + 4, length).to_bytes())
        end = start + self._exports.answered()
        numbers = start + 4 + length
        if most is not None:
            end = min(end, numbers + 4 * most)
        return answer, memoryview(self._bytes(numbers, end - numbers).to_bytes()).cast("f")

    def _bytes(self, start: int, length: int) -> Any:
        # The memory is another object once it has grown.
        return js.Uint8Array.new(self._exports.memory.buffer, start, length)

    def take(self, other: Engine) -> None:
        """Takes the memory of another instance, which is all that an instance keeps between two requests."""
        own, given = self._exports.memory, other._exports.memory
        missing = given.buffer.byteLength - own.buffer.byteLength
        if missing > 0:
            own.grow(missing // 65536)
        js.Uint8Array.new(own.buffer).set(js.Uint8Array.new(given.buffer))


@cache
def shared(module: str) -> Engine:
    """The instance that answers whatever one request asks. A training has an instance of its own, since it lasts."""
    return Engine(module)
