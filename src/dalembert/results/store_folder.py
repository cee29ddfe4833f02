"""Folders that say when they are damaged: files with checksums, changed by transactions that no
kill breaks.

Beside its files a folder has `.dalembert` with

    ledger    a line for every transaction: size and digest of each file that it wrote, or null for a file that it removed;
              a line begins with the digest of the line before and of its own text
    journal   while a transaction is put in its place: its files, whole

A transaction is done as soon as its journal is there: after a kill a reader takes these files from
the journal, and the next writer puts them in their places. A file that is not in the ledger does
not belong to the folder.

The journal is on the disk before a file changes, and the files and the ledger are before the
journal goes, so that a loss of power does no more harm than a kill.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from dalembert.errors import DamagedStoreError, StoreError
from dalembert.results.disk import (
    OWN,
    bytes_of,
    checked_key,
    digest,
    files_in,
    folders_of,
    on_disk,
    write,
)
from dalembert.results.file_seals import BAD_TEXT, FileSeal, Journal
from dalembert.results.store_lock import StoreLock, lock_file

LEDGER, JOURNAL = "ledger", "journal"
FORMAT = 1
MARK = "dalembert_checksums"  # attribute of a folder with a ledger, in case that the ledger is lost
ATTEMPTS, PAUSE = 5, 0.05  # [s] looks at a folder that is being written

Result = TypeVar("Result")


class StoreFolder:
    """A folder of files under a ledger; changes wait in memory until `commit`.

    entries : what the ledger says of each file; None of a folder without a ledger, whose files are
        taken as they are.
    """

    def __init__(self, path: Any):
        self.path = Path(path)
        self._staged: dict[str, bytes | None] = {}
        self._steadily(self.reload)

    @property
    def has_ledger(self) -> bool:
        """Whether its files can be checked."""
        return self.entries is not None

    def reload(self) -> None:
        """Read again what is there: the journal first, so that what is left out of it is in the
        ledger.
        """
        self._journal = self._read_journal()
        ledger = self._own(LEDGER)
        if self._journal is None and not os.path.lexists(ledger):
            self.entries: dict[str, FileSeal] | None = self._without_ledger()
            self._chain, self._offset = "", 0
            return
        data = self._own_bytes(LEDGER) or b""
        data = data if self._journal is None else data[: self._journal.offset]
        length = len(data) or 1 if self._journal is None else self._journal.offset
        if len(data) != length:
            raise self._damaged(
                f"{OWN}/{LEDGER}",
                f"its list of checksums has {len(data)} bytes, not {length} or more",
            )
        self.entries, self._chain = self._read_ledger(data)
        self._offset = len(data)

    def _without_ledger(self) -> dict[str, FileSeal] | None:
        """None of a folder that never had a ledger, an empty one of a new folder."""
        attributes = self.path / ".zattrs"
        if attributes.is_file() and MARK.encode() in bytes_of(attributes):
            raise self._damaged(f"{OWN}/{LEDGER}", "its list of checksums is missing")
        return None if next(files_in(self.path), None) is not None else {}

    def _read_journal(self) -> Journal | None:
        data = self._own_bytes(JOURNAL)
        if data is None:
            return None
        try:
            return Journal.unpacked(data)
        except BAD_TEXT as error:
            raise self._damaged(
                f"{OWN}/{JOURNAL}", "the files of its last change are not as they were written"
            ) from error

    def _read_ledger(self, data: bytes) -> tuple[dict[str, FileSeal], str]:
        """Entries of all files, and the digest of the last line."""
        entries: dict[str, FileSeal] = {}
        chain = ""
        for number, line in enumerate(data.splitlines(keepends=True), start=1):
            seal, _, text = line.partition(b" ")
            chain = digest(chain.encode() + text[:-1])
            if seal != chain.encode() or text[-1:] != b"\n":
                raise self._damaged(
                    f"{OWN}/{LEDGER}",
                    f"line {number} of its list of checksums is not as it was written",
                )
            try:
                self._take_line(json.loads(text), entries)
            except BAD_TEXT as error:
                raise self._damaged(
                    f"{OWN}/{LEDGER}", f"line {number} of its list of checksums says nothing"
                ) from error
        return entries, chain

    def _take_line(self, line: Any, entries: dict[str, FileSeal]) -> None:
        if line.get("format", FORMAT) != FORMAT:
            raise StoreError(
                f"{str(self.path)!r} was written by a newer version of dalembert (format "
                f"{line['format']}, known is {FORMAT}): update this one.",
                str(self.path),
            )
        for key, entry in line.get("files", {}).items():
            if entry is None:
                entries.pop(key, None)
            else:
                size, seal = entry
                entries[checked_key(key)] = FileSeal(int(size), str(seal))

    # --- reading ---

    def keys(self) -> list[str]:
        """Names of all files, in order."""
        known = set(files_in(self.path)) if self.entries is None else set(self.entries)
        for changes in (self._pending, self._staged):
            known |= {key for key, data in changes.items() if data is not None}
            known -= {key for key, data in changes.items() if data is None}
        return sorted(known)

    @property
    def _pending(self) -> Mapping[str, bytes | None]:
        return self._journal.files if self._journal is not None else {}

    def read(self, key: str) -> bytes | None:
        """The file, or None if there is none of that name.

        Raises
        ------
        DamagedStoreError
            It is missing, or not as it was written.
        """
        return self._steadily(lambda: self._read(key))

    def _read(self, key: str, contents: bool = True) -> bytes | None:
        for changes in (self._staged, self._pending):
            if key in changes:
                return changes[key]
        if self.entries is None:
            return self._bytes(key)
        entry = self.entries.get(key)
        if entry is None:
            return None
        if not contents:
            self._check_size(key, entry)
            return None
        data = self._bytes(key)
        if data is None:
            raise self._damaged(key, "is missing")
        if len(data) != entry.size:
            raise self._damaged(key, f"has {len(data)} bytes, not {entry.size}")
        if digest(data) != entry.digest:
            raise self._damaged(key, "is not as it was written: its checksum is another")
        return data

    def has(self, key: str) -> bool:
        """Whether there is a file of that name."""
        for changes in (self._staged, self._pending):
            if key in changes:
                return changes[key] is not None
        return (self.path / key).is_file() if self.entries is None else key in self.entries

    def _bytes(self, key: str) -> bytes | None:
        try:
            return bytes_of(self.path / key)
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            return None
        except OSError as error:
            raise self._damaged(key, f"cannot be read: {error.strerror}") from error

    def _own_bytes(self, name: str) -> bytes | None:
        """The ledger or the journal, None where there is none."""
        try:
            return bytes_of(self._own(name))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._damaged(
                f"{OWN}/{name}", f"its {name} cannot be read: {error.strerror}"
            ) from error

    def _check_size(self, key: str, entry: FileSeal) -> None:
        try:
            size = (self.path / key).stat().st_size
        except OSError:
            raise self._damaged(key, "is missing") from None
        if size != entry.size:
            raise self._damaged(key, f"has {size} bytes, not {entry.size}")

    def verify(self, contents: bool = True) -> None:
        """See that every file is there as it was written, and nothing else; without contents, by
        their sizes alone.

        Raises
        ------
        DamagedStoreError
            A file is missing, is not as it was written, or does not belong to the folder.
        """
        if self.entries is None:
            return
        for key in self.keys():
            self._steadily(partial(self._read, key, contents))
        for key in files_in(self.path):
            self._steadily(partial(self._check_known, key))

    def _check_known(self, key: str) -> None:
        assert self.entries is not None
        if (
            key not in self.entries
            and key not in self._pending
            and os.path.lexists(self.path / key)
        ):
            raise DamagedStoreError(
                f"{str(self.path)!r} is damaged: the file {key!r} does not belong to it; remove "
                "that file.",
                str(self.path),
                key,
            )

    def _steadily(self, look: Callable[[], Result]) -> Result:
        """A look at the folder; again while a writer may be changing it."""
        for attempt in range(ATTEMPTS):
            try:
                if attempt:
                    self.reload()
                return look()
            except DamagedStoreError:
                if attempt == ATTEMPTS - 1 or attempt and not lock_file(self.path).exists():
                    raise
            time.sleep(PAUSE if attempt else 0)
        raise AssertionError("unreachable")

    def _damaged(self, key: str, how: str) -> DamagedStoreError:
        part = self._named(key)
        what = how if key.startswith(f"{OWN}/") else f"{part}: its file {key!r} {how}"
        return DamagedStoreError(
            f"{str(self.path)!r} is damaged: {what}. Take it from a copy, or remove the folder and "
            "compute it again.",
            str(self.path),
            key,
            part,
        )

    def _named(self, key: str) -> str:
        """The part of a folder of Zarr that a file holds."""
        array, _, name = key.rpartition("/")
        if name.startswith("."):
            return f"the description of {array!r}" if array else "the description of the folder"
        try:
            about, labels = (
                json.loads(bytes_of(self.path / array / file)) for file in (".zarray", ".zattrs")
            )
            spans = [
                f"{'records' if dim == 'time' else dim} {int(at) * length} to "
                f"{min((int(at) + 1) * length, n) - 1}"
                for dim, at, length, n in zip(
                    labels["_ARRAY_DIMENSIONS"],
                    name.split("."),
                    about["chunks"],
                    about["shape"],
                    strict=True,
                )
            ]
        except (OSError, *BAD_TEXT):
            return f"array {array!r}" if array else "the folder"
        return f"array {array!r}, chunk {name} ({', '.join(spans)})"

    # --- writing, with the lock of the folder ---

    def stage(self, key: str, data: bytes | None) -> None:
        """Write a file, or remove it, with the next commit."""
        if data is None and not self.has(key):
            return
        self._staged[checked_key(key)] = data

    def commit(self) -> None:
        """Write what waits, all or nothing.

        Raises
        ------
        StoreError
            It cannot be written. What was committed before stays, and so does this if its journal
            could be written.
        """
        try:
            self._put_in_place()
            if self._staged:
                self._journal = Journal(self._offset, self._line(self._staged), self._staged)
                write(self.path, f"{OWN}/{JOURNAL}", self._journal.packed())
                on_disk(self._own(JOURNAL), self._own(JOURNAL).parent, self.path)
                self._staged = {}
                self._put_in_place()
        except OSError as error:
            self._journal = self._read_journal()  # none, if it was what could not be written
            raise StoreError(
                f"{str(self.path)!r} cannot be written: {error.strerror or error}. What was "
                "written before is whole; the same call goes on from there.",
                str(self.path),
            ) from error

    def recover(self) -> None:
        """Put the last transaction in its place, if a kill left it in the journal; give a folder
        without one a ledger.
        """
        if self.entries is None:
            seal(self.path)
            self.reload()
        self.commit()

    def _line(self, files: Mapping[str, bytes | None]) -> str:
        """The text that files add to the ledger; to a new one its format too."""
        entries = {key: None if data is None else FileSeal.of(data) for key, data in files.items()}
        known: dict[str, Any] = (
            {"files": entries} if self._offset else {"format": FORMAT, "files": entries}
        )
        text = json.dumps(known)
        return f"{digest(self._chain.encode() + text.encode())} {text}\n"

    def _put_in_place(self) -> None:
        """Do what the journal says; as often as one likes."""
        if self._journal is None:
            return
        for key, data in self._journal.files.items():
            if data is None:
                (self.path / key).unlink(missing_ok=True)
            else:
                write(self.path, key, data)
        text = self._journal.text.encode()
        with self._own(LEDGER).open("ab") as ledger:
            ledger.truncate(self._journal.offset)
            ledger.write(text)
        written = [self.path / key for key, data in self._journal.files.items() if data is not None]
        on_disk(
            *written,
            *folders_of(self.path, self._journal.files),
            self._own(LEDGER),
            self._own(LEDGER).parent,
        )
        self._own(JOURNAL).unlink(missing_ok=True)
        assert self.entries is not None
        self._take_line(json.loads(text.partition(b" ")[2]), self.entries)
        self._chain = text.partition(b" ")[0].decode()
        self._offset = self._journal.offset + len(text)
        self._journal = None

    def _own(self, name: str) -> Path:
        return self.path / OWN / name


def seal(path: Path) -> None:
    """Give a folder of files, which are all as they should be, a ledger."""
    entries = {key: FileSeal.of(bytes_of(path / key)) for key in sorted(files_in(path))}
    text = json.dumps({"format": FORMAT, "files": entries})
    write(path, f"{OWN}/{LEDGER}", f"{digest(text.encode())} {text}\n".encode())
    on_disk(
        *(path / key for key in entries),
        *folders_of(path, entries),
        path / OWN / LEDGER,
        path / OWN,
    )


def opened(path: Any) -> StoreFolder:
    """A folder for reading; a killed writer's journal is put in its place where nobody writes."""
    folder = StoreFolder(path)
    if folder._journal is not None:
        try:
            with StoreLock(path):
                folder.reload()
                folder.recover()
        except (
            OSError,
            StoreError,
        ):  # the folder is being written, or cannot be: then read past the files
            folder.reload()
    return folder


def is_empty(path: Any) -> bool:
    """Whether nothing was written to a folder, or all of it was given up by a kill before the first
    commit.
    """
    place = Path(path)
    if not place.exists():
        return True
    return not any(item.name != OWN for item in place.iterdir()) and not any(
        (place / OWN / name).exists() for name in (LEDGER, JOURNAL)
    )
