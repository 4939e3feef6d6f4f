"""Takes the README's picture of a run's page, in Chromium.

    python scripts/pictures/page_picture.py docs/page.png target/release/headlight

Trains the notebook's run with 100 recorded steps and opens its page at sample 10. Needs Debian's
chromium.
"""

import pathlib
import subprocess
import sys
import tempfile

SIZE = "1200,900"


def main() -> None:
    out, headlight = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run = pathlib.Path(folder) / "notebook"
        changes = ["--set", "dump.every_steps=15", "--run", str(run)]
        subprocess.run([headlight, "train", *changes], check=True, stdout=subprocess.DEVNULL)
        page = (run / "inspector.html").resolve().as_uri()
        options = [
            "--headless=new",
            "--no-sandbox",
            "--hide-scrollbars",
            "--virtual-time-budget=5000",
        ]
        options += [f"--window-size={SIZE}", f"--screenshot={pathlib.Path(out).resolve()}"]
        address = f"{page}#sample=10&step=900&query=0"
        subprocess.run(
            ["chromium", *options, address], check=True, capture_output=True, timeout=120
        )


if __name__ == "__main__":
    main()
