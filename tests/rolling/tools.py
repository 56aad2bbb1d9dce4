"""Sees to it that a balancer is there: installs it as root, and otherwise fails with its name."""

from tests.languages import tools

PACKAGES = {"haproxy": ("haproxy", "-v")}
"""Debian's packages, each with a command that succeeds where it is installed."""


if __name__ == "__main__":
    tools.main(PACKAGES)
