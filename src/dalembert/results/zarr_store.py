"""A `StoreFolder` as Zarr sees it; imported only where Zarr is there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.core.buffer import default_buffer_prototype

from dalembert.results.store_folder import StoreFolder


class CheckedStore(Store):
    """Files of a folder with checksums: each is checked when it is read, and written with the next
    commit.
    """

    supports_writes = True
    supports_deletes = True
    supports_listing = True
    supports_partial_writes = False  # type: ignore[assignment]

    def __init__(self, folder: StoreFolder, read_only: bool = False):
        super().__init__(read_only=read_only)
        self.folder = folder

    def with_read_only(self, read_only: bool = False) -> CheckedStore:
        """The store for reading, or for writing."""
        return type(self)(self.folder, read_only)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CheckedStore) and self.folder.path == other.folder.path

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return str(self.folder.path)

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """Bytes of a key, or a range of them; None where there is none."""
        data = await asyncio.to_thread(self.folder.read, key)
        if data is None:
            return None
        if isinstance(byte_range, RangeByteRequest):
            data = data[byte_range.start : byte_range.end]
        elif isinstance(byte_range, OffsetByteRequest):
            data = data[byte_range.offset :]
        elif isinstance(byte_range, SuffixByteRequest):
            data = data[max(0, len(data) - byte_range.suffix) :]
        return (prototype or default_buffer_prototype()).buffer.from_bytes(data)

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]
    ) -> list[Any]:
        """Ranges of bytes of several keys."""
        return [await self.get(key, prototype, byte_range) for key, byte_range in key_ranges]

    async def set_partial_values(self, key_start_values: Any) -> None:
        """Refused: chunks are written whole."""
        raise NotImplementedError

    async def exists(self, key: str) -> bool:
        """Whether the folder has a key."""
        return self.folder.has(key)

    async def set(self, key: str, value: Any) -> None:
        """Stage the bytes of a key for the next commit."""
        self._check_writable()
        self.folder.stage(key, value.to_bytes())

    async def delete(self, key: str) -> None:
        """Stage the removal of a key for the next commit."""
        self._check_writable()
        self.folder.stage(key, None)

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        for key in self.folder.keys():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Keys with a prefix."""
        for key in self.folder.keys():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names in a folder."""
        stem = f"{prefix.rstrip('/')}/" if prefix.rstrip("/") else ""
        for name in sorted(
            {
                key[len(stem) :].partition("/")[0]
                for key in self.folder.keys()
                if key.startswith(stem)
            }
        ):
            yield name
