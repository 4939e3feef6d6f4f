"""Draws a command's output in a colour terminal as an SVG, with rich from PyPI.

    python scripts/pictures/terminal_picture.py docs/pictures/inspect.svg target/release/headlight inspect runs/notebook-1 --sample 10
"""

import os
import pty
import re
import shlex
import subprocess
import sys

from rich.console import Console
from rich.text import Text

WIDTH = 84


def in_a_terminal(command: list[str]) -> str:
    """Runs a command with a true-colour pseudo-terminal as its standard output."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    subprocess.run(["stty", "cols", str(WIDTH), "rows", "50"], stdin=theirs, check=True)
    process = subprocess.Popen(command, stdout=theirs, env=environment)
    os.close(theirs)
    output = b""
    try:
        while chunk := os.read(ours, 4096):
            output += chunk
    except OSError:  # the other end is closed
        pass
    assert process.wait() == 0
    return output.decode().replace("\r", "")


def main() -> None:
    out, command = sys.argv[1], sys.argv[2:]
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"), color_system="truecolor")
    console.print(Text.from_ansi(in_a_terminal(command).rstrip()))
    shown = ["headlight", *command[1:]]
    svg = console.export_svg(title=shlex.join(shown), unique_id="headlight")
    svg = re.sub(r"<!--.*?-->", "", svg, flags=re.S)
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    # The reader's own monospace font, in place of one from the network.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S).replace("Fira Code", "ui-monospace")
    with open(out, "w") as file:
        file.write("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


if __name__ == "__main__":
    main()
