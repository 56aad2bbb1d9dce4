"""The scripts, style sheet and icon of the page, read and compressed once at the start."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
from pathlib import Path
from typing import Final

from himeji.rules.errors import NotFound
from starlette.requests import Request
from starlette.responses import Response

FOLDER: Final = Path(__file__).with_name("static")


class StaticFile:
    """One file, also in its compressed form."""

    def __init__(self, path: Path) -> None:
        self._body = path.read_bytes()
        self._compressed = gzip.compress(self._body, mtime=0)
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self._headers = {
            "content-type": f"{media_type}; charset=utf-8",
            "etag": f'W/"{hashlib.sha256(self._body).hexdigest()[:32]}"',
            "vary": "accept-encoding",
        }

    def response(self, request: Request) -> Response:
        """The file, or 304 if the client has it."""
        known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
        if self._headers["etag"] in known:
            return Response(None, 304, self._headers)
        if "gzip" in request.headers.get("accept-encoding", ""):
            return Response(self._compressed, 200, self._headers | {"content-encoding": "gzip"})
        return Response(self._body, 200, self._headers)


class StaticFiles:
    """All files below /static."""

    def __init__(self) -> None:
        self._files = {path.name: StaticFile(path) for path in FOLDER.iterdir()}

    async def handle(self, request: Request) -> Response:
        """Answer a request for a file; raises NotFound."""
        file = self._files.get(request.path_params["name"])
        if file is None:
            raise NotFound("there is no such file")
        return file.response(request)
