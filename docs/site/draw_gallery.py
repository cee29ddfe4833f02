"""Draw the pictures of the gallery again: `python docs/site/draw_gallery.py [NAME ...]`."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

GALLERY = Path(__file__).parents[1] / "gallery"
COLOURS = 96  # of a picture: a small file


def draw(script: Path) -> None:
    """Run a script in a folder of its own, and keep its picture with few colours."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-W", "ignore", str(script)]
        subprocess.run(command, cwd=folder, check=True, env={**os.environ, "MPLBACKEND": "Agg"})
        (picture,) = Path(folder).iterdir()
        if picture.suffix != ".png":
            (GALLERY / picture.name).write_bytes(picture.read_bytes())
            return
        few = Image.open(picture).convert("RGB").quantize(COLOURS)
        few.save(GALLERY / picture.name, optimize=True)


if __name__ == "__main__":
    chosen = sys.argv[1:] or [path.stem for path in sorted(GALLERY.glob("*.py"))]
    for name in chosen:
        draw(GALLERY / f"{name}.py")
