"""The document that describes `/api`, made from the table of routes and the shapes of answers."""

from __future__ import annotations

import re
import types
from typing import Any, Final, Union, get_args, get_origin, get_type_hints, is_typeddict

import himeji

from himeji_server.web import schemas
from himeji_server.web.route import Route

_PLAIN: Final[dict[object, dict[str, Any]]] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    type(None): {"type": "null"},
}
_IN_PATH: Final = re.compile(r"\{(\w+)(?::\w+)?\}")


def document(routes: list[Route]) -> dict[str, Any]:
    """The OpenAPI document of the routes."""
    shown: dict[str, Any] = {}
    paths = {_IN_PATH.sub(r"{\1}", route.path): {"get": _read(route, shown)} for route in routes}
    _schema(schemas.Refusal, shown)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Himeji, the arena page",
            "version": himeji.__version__,
            "description": "What the page shows, as JSON. Reading only: bots play by gRPC.",
        },
        "paths": paths,
        "components": {"schemas": dict(sorted(shown.items()))},
    }


def _read(route: Route, shown: dict[str, Any]) -> dict[str, Any]:
    in_path = _IN_PATH.findall(route.path)
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
    schema = _schema(route.shape, shown) if route.shape is not None else {"type": "string"}
    refused = {"application/json": {"schema": _schema(schemas.Refusal, shown)}}
    return {
        "operationId": route.name,
        "summary": route.summary,
        "parameters": parameters,
        "responses": {
            "200": {"description": route.summary, "content": {route.media: {"schema": schema}}},
            "default": {"description": "Why there is no answer.", "content": refused},
        },
    }


def _schema(kind: Any, shown: dict[str, Any]) -> dict[str, Any]:
    """The schema of a type; classes are shown once and referred to."""
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is list:
        return {"type": "array", "items": _schema(inner[0], shown)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema(inner[1], shown)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_schema(each, shown) for each in inner]}
    if not is_typeddict(kind):
        raise TypeError(f"{kind} has no schema")
    if kind.__name__ not in shown:
        shown[kind.__name__] = {}  # a shape may hold itself
        fields = get_type_hints(kind)
        shown[kind.__name__] = {
            "type": "object",
            "description": (kind.__doc__ or "").strip(),
            "required": list(fields),
            "properties": {name: _schema(each, shown) for name, each in fields.items()},
        }
    return {"$ref": f"#/components/schemas/{kind.__name__}"}
