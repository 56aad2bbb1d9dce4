"""How much of the append-only files of the embedded Redis is known to be complete and on the disk.

Redis opens files whose end is gone without an error. A file alone cannot tell whether it ends with
a write that was never acknowledged, which is usual after a power cut, or has lost writes that were.
So the arena records sizes that files had before Redis answered something: Redis writes and syncs
before it answers (`appendfsync always`), so that much was acknowledged, and is never missing unless
the disk lost it or somebody cut it off. What was written after the last record is not covered.
"""

import json
import os
import re
from pathlib import Path
from typing import Final

from himeji_server.startup_errors import StartRefusedError

RECORD: Final = "durable-sizes.json"
MANIFEST: Final = "appendonly.aof.manifest"
_FOLDER: Final = "appendonlydir"
_LIVE_FILE: Final = re.compile(r"^file (\S+) .*type [bi]$", re.MULTILINE)
"""In the manifest: the base file, and the files with what was written since; no history."""

_BASE: Final = ".base."  # in the name of a base file


class DurableSizes:
    """The recorded sizes of the append-only files in the folder of a Redis."""

    def __init__(self, folder: Path) -> None:
        self._files = folder / _FOLDER
        self._record = folder / RECORD
        self._recorded: dict[str, int] = {}

    def measure(self) -> dict[str, int]:
        """The sizes of the files by their names, as they are now; those that are gone have none."""
        manifest = self._files / MANIFEST
        text = manifest.read_text(encoding="utf-8") if manifest.exists() else ""
        paths = [self._files / name for name in _LIVE_FILE.findall(text)]
        return {path.name: path.stat().st_size for path in paths if path.exists()}

    def record(self, sizes: dict[str, int]) -> None:
        """Record durably that files are complete up to these sizes."""
        if sizes == self._recorded:
            return
        prepared = self._record.with_suffix(".new")
        with prepared.open("w", encoding="utf-8") as file:
            json.dump(sizes, file)
            file.flush()
            os.fsync(file.fileno())
        prepared.replace(self._record)
        self._recorded = sizes

    def count_missing(self) -> int:
        """How many bytes are missing of what was recorded; raises StartRefusedError."""
        recorded, found = self._read(), self.measure()
        # Redis rewrites its files now and then; a new base file has all that the old ones had.
        bases = {name for name in found if _BASE in name}
        if bases and not bases & recorded.keys():
            return 0
        return sum(max(0, size - found.get(name, 0)) for name, size in recorded.items())

    def _read(self) -> dict[str, int]:
        if not self._record.exists():
            return {}
        try:
            return {
                str(name): int(size) for name, size in json.loads(self._record.read_text()).items()
            }
        except (ValueError, AttributeError, TypeError) as error:
            raise StartRefusedError(
                f"{self._record} is damaged, so nobody can tell whether acknowledged moves are "
                "missing: look at the disk, then remove that file"
            ) from error
