"""Sheets of quantities that are known as expressions: in normal form, or factored where that is too
long.
"""

from __future__ import annotations

from math import inf

from dalembert.closed_forms.algebra.ring import TooLarge, terms_in
from dalembert.closed_forms.derivation.lagrangian_context import ExpressionContext
from dalembert.closed_forms.printing.sheets import Sheet
from dalembert.closed_forms.quantities.verified_forms import ClosedForms


def made(
    eom: ClosedForms,
    context: ExpressionContext,
    quantity: str,
    times: int = 1,
    longest: float = inf,
) -> tuple[Sheet, str]:
    """The sheet of a quantity, in full where it has at most so many times the budget's characters
    and so many terms multiplied out, and why it is factored, if it is.
    """
    title = eom.titles[quantity].lower()
    verb = "have" if title.endswith("s") else "has"
    try:
        terms = terms_in(context.normal.scalar(x) for x in context.expressions[quantity].flat)
        if terms > longest:
            raise TooLarge(f"the {title} {verb} {terms} terms multiplied out.")
        sheet = eom.in_full(quantity, context.forms(quantity))
        size = eom.length(sheet)
        if size <= context.budget * times:
            return sheet, ""
        why = f"the {title} {verb} {sheet.terms} terms, {size} characters in full"
    except TooLarge as error:
        why = str(error).rstrip(".")
    return eom.factored(quantity, context.expressions[quantity], why), why
