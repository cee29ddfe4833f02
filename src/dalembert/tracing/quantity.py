"""A quantity of a system: its function with shape, unit and description, each said once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Quantity(NamedTuple):
    """A function of some of q, qd, qdd, tau, p, t, in this order, and its results.

    Attributes
    ----------
    function : of the inputs; of a mechanism's table, of the mechanism before them
    inputs : names of its arguments
    shape : names of its axes, 'nq', 'nv', or lengths; empty: a number
    unit : units of its entries, joined by commas where they differ
    description : a few words
    labels : names of the entries along its last axis, if that is an axis of its own
    framed, turned : it takes a frame ('placement:tool'); a frame and axes ('jacobian:tool:local')
    loaded : it takes external forces

    Examples
    --------
    >>> import dalembert as da
    >>> height = da.Quantity(lambda q: da.sin(q[0]), ("q",), (), "m", "height of the tip")
    >>> height.function([0.0]), height.unit
    (0.0, 'm')
    """

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    shape: tuple[str | int, ...] = ()
    unit: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()
    framed: bool = False
    turned: bool = False
    loaded: bool = False
