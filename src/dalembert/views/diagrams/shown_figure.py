"""A Matplotlib figure that notebooks show; Matplotlib is an extra, so this module is imported late."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure that is drawn where it is the last line of a cell.

    A plain `Figure` is drawn there only after `%matplotlib inline` or an import of `pyplot`.

    Examples
    --------
    >>> import dalembert as da
    >>> run = da.simulate(da.planar_chain(1), [0.5], [0.0], 0.1)
    >>> run.plot("q")._repr_png_()[1:4]
    b'PNG'
    """

    def _repr_png_(self) -> bytes:
        image = BytesIO()
        self.savefig(image, format="png")
        return image.getvalue()
