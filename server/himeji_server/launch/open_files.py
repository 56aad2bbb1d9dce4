"""The operating system's limit of open files, of which every connection is one."""

import resource
from typing import Final

import structlog

_OTHERS: Final = 1_280
"""Descriptors for all but gRPC's connections: a thousand for the page's, the rest for the store."""

_log = structlog.get_logger(__name__)


def allow(connections: int) -> int:
    """Raise the soft limit so that so many connections fit; returns how many do.

    If the hard limit is lower, it warns of that.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = connections + _OTHERS
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return connections
    limit = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, limit), hard))
    if limit == needed:
        return connections
    fitting = min(connections, max(limit // 2, limit - _OTHERS))
    _log.warning(
        "open files are limited: raise the limit (ulimit -Hn, LimitNOFILE) or expect fewer clients",
        open_files=limit,
        needed=needed,
        connections=fitting,
        wanted=connections,
    )
    return fitting
