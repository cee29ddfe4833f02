"""Draw the picture in README.md by the example above it: `python docs/pictures.py`."""

import io
import re
import warnings
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
COLOURS = 48  # of a diagram: a small file


def main() -> None:
    """Run the snippets of the README up to the picture, and save what the last one plots."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names: dict = {}
    for code in re.findall(
        r"^```python\n(.*?)^```\n", text[: text.index("docs/swing.png")], re.DOTALL | re.MULTILINE
    ):
        exec(code, names)
    drawn = io.BytesIO()
    names["run"].plot().savefig(drawn, format="png", dpi=80)
    Image.open(drawn).convert("RGB").quantize(COLOURS).save(
        ROOT / "docs" / "swing.png", optimize=True
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
