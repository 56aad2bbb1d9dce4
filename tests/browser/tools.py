"""Sees to it that a browser is there: installs it as root, and otherwise fails with its name."""

from tests.languages import tools

PACKAGES = {"chromium": ("chromium", "--version")}
"""Debian's packages, each with a command that succeeds where it is installed."""


if __name__ == "__main__":
    tools.main(PACKAGES)
