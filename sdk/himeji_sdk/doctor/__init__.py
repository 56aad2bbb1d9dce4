"""The conformance kit: is a bot fit for an arena? What is wrong is named, and what to do about it.

A bot is examined in a process of its own, so that one that hangs, eats memory or ends the process
is a finding like any other.
"""

from himeji_sdk.doctor.examination import examine
from himeji_sdk.doctor.finding import CHECKS, Finding
from himeji_sdk.doctor.wishes import Wishes

__all__ = ["CHECKS", "Finding", "Wishes", "examine"]
