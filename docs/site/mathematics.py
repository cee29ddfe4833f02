"""Hook of the site: formulas become MathML when the site is built, so that pages need no script and no network."""

import html
import re
from typing import Any

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
TAG = re.compile(r"\\tag\{(.*?)\}")


def on_page_content(content: str, **_: Any) -> str:
    """HTML of a page with its formulas as MathML."""
    return FORMULA.sub(_formula, content)


def _formula(match: re.Match[str]) -> str:
    """A formula in a line, or in a block with its number at the right."""
    block = match[2] == "["
    latex = html.unescape(match[3]).strip()
    numbers = TAG.findall(latex)
    mathematics = convert(TAG.sub("", latex), display="block" if block else "inline")
    if not block:
        return mathematics
    number = f'<span class="number">({html.escape(numbers[0])})</span>' if numbers else ""
    return f'<div class="formula"><div class="wide" tabindex="0">{mathematics}</div>{number}</div>'
