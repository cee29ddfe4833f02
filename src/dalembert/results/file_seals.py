"""Sizes and digests of files, and transactions that change several at once."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import NamedTuple

from dalembert.errors import DamagedStoreError
from dalembert.results.disk import DIGEST, checked_key, digest, on_disk

PIECE = 2**22  # bytes of a file that are looked at together
BAD_TEXT = (
    ValueError,
    TypeError,
    KeyError,
    AttributeError,
    RecursionError,
)  # errors of text that is not as expected
SEAL = b"\ndalembert blake2b "  # begins the end of a file with a checksum; its digest follows


class FileSeal(NamedTuple):
    """Size [bytes] and digest of a file."""

    size: int
    digest: str

    @staticmethod
    def of(data: bytes) -> FileSeal:
        """Seal of some data: its length and digest."""
        return FileSeal(len(data), digest(data))


class Journal(NamedTuple):
    """A transaction: its files (None: removed), the text that it adds to the ledger, and the length
    before.
    """

    offset: int
    text: str
    files: dict[str, bytes | None]

    def packed(self) -> bytes:
        """As bytes that begin with their digest."""
        sizes = {key: None if data is None else len(data) for key, data in self.files.items()}
        head = json.dumps({"offset": self.offset, "text": self.text, "sizes": sizes}).encode()
        body = b"\n".join([head, b"".join(data for data in self.files.values() if data)])
        return digest(body).encode() + b"\n" + body

    @staticmethod
    def unpacked(packed: bytes) -> Journal:
        """The transaction; raises one of BAD_TEXT if these are not the bytes that `packed` gave."""
        seal, _, body = packed.partition(b"\n")
        if seal != digest(body).encode():
            raise ValueError("its digest is another")
        head, _, rest = body.partition(b"\n")
        known = json.loads(head)
        files = {}
        at = 0
        for key, size in known["sizes"].items():
            files[checked_key(key)] = None if size is None else rest[at : at + size]
            at += size or 0
        if at != len(rest):
            raise ValueError("its length is another")
        json.loads(known["text"].partition(" ")[2])["files"]
        return Journal(int(known["offset"]), known["text"], files)


def seal_file(path: Path) -> None:
    """Append the digest of a file to it; programs that read NetCDF do not look there."""
    seal = SEAL + _digest_of(path, path.stat().st_size).encode()
    with path.open("ab") as file:
        file.write(seal)
    on_disk(path, path.parent)


def is_sealed(path: Path) -> bool:
    """Whether a file ends with its digest.

    Raises
    ------
    DamagedStoreError
        It ends with another's.
    """
    length = max(0, path.stat().st_size - len(SEAL) - 2 * DIGEST)
    with path.open("rb") as file:
        file.seek(length)
        end = file.read()
    if not end.startswith(SEAL):
        return False
    if end[len(SEAL) :] != _digest_of(path, length).encode():
        raise DamagedStoreError(
            f"{str(path)!r} is damaged: it is not as it was written, its checksum is another. Take "
            "it from a copy, or compute it again.",
            str(path),
            path.name,
        )
    return True


def _digest_of(path: Path, length: int) -> str:
    """Digest of the first bytes of a file."""
    found = hashlib.blake2b(digest_size=DIGEST)
    with path.open("rb") as file:
        while length and (data := file.read(min(length, PIECE))):
            found.update(data)
            length -= len(data)
    return found.hexdigest()
