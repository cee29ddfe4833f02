"""Hook of the site: files outside `docs` become pages of it, or plain text where a page links to them."""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PAGES = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
HOME = {"README.md": "index.md"}
ALONE = {  # pages of no section, with the lists that do not stand beside them
    "index.md": ["navigation", "toc"],
    "first_steps.md": ["navigation"],
    "install.md": ["navigation"],
    "gallery/index.md": ["navigation", "toc"],
}
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:|#|mailto:)([^)#\s]+)(#[^)\s]*)?\)")
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that stand in the root of the repository, where a Git host looks for them."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=linked(text, "", "")))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Text of a page whose links lead to pages of the site."""
    uri = page.file.src_uri
    if uri in ALONE:
        page.meta["hide"] = ALONE[uri]
    if uri in PAGES.values():
        return markdown
    return linked(markdown, posixpath.dirname("docs/" + uri), uri)


def linked(text: str, folder: str, uri: str) -> str:
    """Text from a folder of the repository, with links as a page of the site has them."""

    def link(match: re.Match[str]) -> str:
        label, target, anchor = match.groups()
        path = posixpath.normpath(posixpath.join(folder, target))
        inside = path.removeprefix("docs/") if path.startswith("docs/") else None
        inside = {**PAGES, **HOME}.get(path, inside)
        if inside is None:
            return label
        start = posixpath.dirname(uri) or "."
        return f"[{titled(label, path)}]({posixpath.relpath(inside, start)}{anchor or ''})"

    return LINK.sub(link, text)


def titled(label: str, path: str) -> str:
    """Label of a link: the title of the page where the label is the name of its file."""
    if not label.endswith(".md") or not (ROOT / path).exists():
        return label
    title = TITLE.search((ROOT / path).read_text(encoding="utf-8"))
    return title[1] if title else label
