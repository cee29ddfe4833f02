"""Files of documents: the kind that the ending of a name says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dalembert.closed_forms.printing.documents import plain
from dalembert.closed_forms.printing.paper import markdown, tex
from dalembert.closed_forms.printing.pdf import pdf
from dalembert.closed_forms.printing.web_page import html
from dalembert.whole_files import whole_file


def write(eom: Any, file: Path, quantities: Sequence[str]) -> Path:
    """Write the kind of document that the file's ending names; see `ClosedForms.write`."""
    makers = {
        ".html": html,
        ".htm": html,
        ".tex": tex,
        ".md": markdown,
        ".txt": plain,
        ".py": lambda e, q: e.python(*q),
    }
    ending = file.suffix.lower()
    if ending == ".pdf":
        return pdf(tex(eom, quantities), file)
    if ending not in makers:
        raise ValueError(
            f"cannot write {file.name!r}: known endings are {', '.join(makers)}, .pdf."
        )
    if ending == ".py":
        quantities = [q for q in quantities if q not in ("christoffel", "regressor")]
    text = makers[ending](eom, quantities)
    with whole_file(file) as out:
        out.write(text)
    return file
