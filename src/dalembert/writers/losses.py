"""Content of a mechanism that a format of files cannot say, collected for one warning."""

from __future__ import annotations

import warnings
from dataclasses import (
    dataclass,
    field,
)

from dalembert.errors import (
    DalembertWarning,
    ReadError,
    caller_level,
)

MAX_NAMED = 3  # names listed of one kind of content; the rest is counted


@dataclass
class Losses:
    """Kinds of content that are left out or changed, each with the names of its parts.

    format : name of the format
    mechanism : name of the mechanism
    """

    format: str
    mechanism: str
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def note(self, kind: str, *names: str) -> None:
        """Remember parts of which a kind of content is lost, or the kind alone."""
        self.kinds.setdefault(kind, []).extend(names)

    def message(self) -> str:
        """All kinds in one sentence, and the file that keeps them."""
        listed = "; ".join(_kind(kind, names) for kind, names in self.kinds.items())
        return (
            f"{self.format} cannot say all of mechanism {self.mechanism!r}: {listed}. "
            "A .toml file keeps everything: da.save(mechanism, 'robot.toml')."
        )

    def tell(self, file: str, strict: bool) -> None:
        """Warn once of everything that is lost.

        Raises
        ------
        ReadError
            With `strict`, in place of the warning.
        """
        if not self.kinds:
            return
        if strict:
            raise ReadError(self.message(), file)
        warnings.warn(self.message(), DalembertWarning, stacklevel=caller_level())


def _kind(kind: str, names: list[str]) -> str:
    """A kind of content with its first names."""
    if not names:
        return kind
    listed = ", ".join(map(repr, names[:MAX_NAMED]))
    more = len(names) - MAX_NAMED
    return f"{kind} ({listed}" + (f" and {more} more)" if more > 0 else ")")
