"""Generates the OpenAPI document of `/api` from the routes and the schemas of their answers."""

from __future__ import annotations

import re
import types
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict

import himeji
from starlette.requests import Request
from starlette.responses import Response

from himeji_server.web import schemas

_PLAIN: Final[dict[object, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}
_PATH_PARAMETER: Final = re.compile(r"\{(\w+)(?::\w+)?\}")


@dataclass(frozen=True)
class Route:
    """A route of `/api` with its description."""

    path: str
    name: str
    summary: str
    handler: Callable[[Request], Awaitable[Response]]
    schema: type | None = None
    """The class in schemas.py of the JSON answer; None for other media types."""

    media_type: str = "application/json"
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Path and query parameters, with their descriptions."""


def document(routes: list[Route]) -> dict[str, Any]:
    """The OpenAPI document of the routes."""
    defined: dict[str, Any] = {}
    paths = {
        _PATH_PARAMETER.sub(r"{\1}", route.path): {"get": _operation(route, defined)}
        for route in routes
    }
    _schema(schemas.Error, defined)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Himeji, the arena page",
            "version": himeji.__version__,
            "description": "What the page shows, as JSON. Read only: bots play by gRPC.",
        },
        "paths": paths,
        "components": {"schemas": dict(sorted(defined.items()))},
    }


def _operation(route: Route, defined: dict[str, Any]) -> dict[str, Any]:
    in_path = _PATH_PARAMETER.findall(route.path)
    parameters = [
        {
            "name": name,
            "in": "path" if name in in_path else "query",
            "required": name in in_path,
            "description": text,
            "schema": {"type": "string"},
        }
        for name, text in route.parameters.items()
    ]
    schema = _schema(route.schema, defined) if route.schema is not None else {"type": "string"}
    failed = {"application/json": {"schema": _schema(schemas.Error, defined)}}
    return {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {
                "description": route.summary,
                "content": {route.media_type: {"schema": schema}},
            },
            "default": {"description": "Why the request failed.", "content": failed},
        },
    }


def _schema(kind: Any, defined: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a type; classes are collected in `defined` and referred to."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], defined)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], defined)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, defined) for each in inner]}
    if not is_typeddict(kind):
        raise TypeError(f"{kind} has no schema")
    if kind.__name__ not in defined:
        defined[kind.__name__] = {}  # defined first, because a class may refer to itself
        fields = get_type_hints(kind)
        defined[kind.__name__] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip(),
            "required": list(fields),
            "properties": {name: _schema(each, defined) for name, each in fields.items()},
        }
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
