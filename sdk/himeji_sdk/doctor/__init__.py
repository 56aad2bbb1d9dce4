"""The conformance kit: is a bot fit for an arena? What is wrong is named, and what to do about it.

A bot is examined in a process of its own, so that one that hangs, eats memory or ends the process
is a finding like any other.
"""

from himeji_sdk.doctor._examination import examine
from himeji_sdk.doctor._finding import CHECKS, Finding
from himeji_sdk.doctor._settings import Settings

__all__ = ["CHECKS", "Finding", "Settings", "examine"]
