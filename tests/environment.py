"""The environment variables that may reach the tests: as few as possible.

Any other variable (PYTHONUNBUFFERED, LANG, CI, COLUMNS, ...) can hide a failure that a new machine
would show, or cause one that no other machine has.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase

EVERY_MACHINE = (
    "PATH",  # where programs are
    "HOME",  # where package clients keep what they downloaded
    "TERM",  # what the terminal can show
)
PACKAGE_CLIENTS = (
    *("PIP_*", "UV_*", "npm_config_*", "NPM_CONFIG_*"),  # registries, caches, patience
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"),  # certificates of a site's own
    *("CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS"),  # the same
    *("http_proxy", "https_proxy", "no_proxy"),  # proxies
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"),  # the same
)
A_TEST = (
    *EVERY_MACHINE,
    *("TMPDIR", "LD_LIBRARY_PATH"),  # where this machine has room, and libraries
    "HIMEJI_PURE",  # the form of the rules that is tested
    *("PYTEST_*", "COV*"),  # how tests are run and measured
)


def matching(environment: Mapping[str, str], patterns: tuple[str, ...]) -> dict[str, str]:
    """The variables whose names match one of the patterns."""
    return {
        name: value
        for name, value in environment.items()
        if any(fnmatchcase(name, pattern) for pattern in patterns)
    }
