"""What is measured of an attack, and the bounds that it has to keep."""

import threading
from collections import Counter
from dataclasses import dataclass, field

from loadtest.resource_usage import SERVER, ResourceMonitor
from tests.programs.siege.records import Window

MB = 1 << 20
SAMPLE_SECONDS = 0.1


@dataclass(frozen=True)
class Bounds:
    """What an attack may cost others."""

    latency_ratio: float = 5.0
    """The p99 of honest calls, against their own baseline."""

    memory_ratio: float = 2.0
    memory_extra: int = 256 * MB
    """The peak of the server's memory: so many times what it was before, and so much more."""

    next_ratio: float = 1.1
    next_extra: int = 16 * MB
    """The peak of the last of identical attacks against those before; the honest clients alone add
    0.7 MB a second until the garbage collector runs."""

    log_ratio: float = 5.0
    """Bytes of log in a second, against those of the baseline."""

    def has_grown(self, peaks):
        """Whether the last of identical attacks took more memory than all before it.

        After one that did, half as much again is more, too.
        """
        *earlier, last = peaks
        if not earlier:
            return False
        if last > self.next_ratio * max(earlier) + self.next_extra:
            return True
        return self.has_grown(earlier) and last - earlier[-1] > (earlier[-1] - earlier[-2]) / 2


@dataclass
class Phase:
    """A span of time, and what was measured in it."""

    started: float
    ended: float
    peak: int
    log_bytes: int
    told: Counter = field(default_factory=Counter)

    @property
    def log_rate(self):
        return self.log_bytes / max(self.ended - self.started, 1e-9)


@dataclass
class Outcome:
    """Everything that was measured of one attack."""

    idle: int
    """Bytes of memory before the attack."""

    after: int
    before: Phase
    attacks: list[Phase]
    calls_before: Window
    calls_meanwhile: Window
    calls_since: Window
    """Those since the first attack, also after it: what it broke may stay broken."""

    unanswered: list[str]
    """Kinds of honest calls that were not answered any more after the attack."""

    harm: str
    log_is_bounded: bool

    def violations(self, bounds):
        """A sentence for each bound that was broken."""
        return [*self._failures(), *self._latency(bounds), *self._costs(bounds)]

    def shows(self, symptom, bounds):
        """Whether something that went wrong has these words."""
        found = [*self.violations(bounds), *self.calls_since.failures()]
        return any(symptom in each for each in found)

    def _failures(self):
        failures = self.calls_since.failures()
        for text, count in failures.most_common(3):
            yield f"{count} x {text}"
        if len(failures) > 3:
            yield f"{sum(failures.values())} honest calls failed in all"
        for kind in self.unanswered:
            yield f"{kind} was not answered any more"
        if self.harm:
            yield self.harm

    def _latency(self, bounds):
        for page in (False, True):
            before = self.calls_before.percentile(0.99, page=page)
            meanwhile = self.calls_meanwhile.percentile(0.99, page=page)
            if not meanwhile <= before * bounds.latency_ratio:
                what = "the page" if page else "calls"
                yield f"p99 of {what} {meanwhile / before:.1f} x its baseline"

    def _costs(self, bounds):
        first, peaks = self.attacks[0], [each.peak for each in self.attacks]
        if max(peaks) > bounds.memory_ratio * self.idle + bounds.memory_extra:
            yield f"memory {max(peaks) // MB} MB, from {self.idle // MB} MB"
        if bounds.has_grown(peaks):
            yield f"the next attack: {peaks[-1] // MB} MB after {max(peaks[:-1]) // MB} MB"
        if self.log_is_bounded and first.log_rate > bounds.log_ratio * self.before.log_rate:
            yield f"the log grew {first.log_rate / max(self.before.log_rate, 1):.0f} x as fast"


class Memory:
    """Samples the memory of the server's processes, in a thread, for a `with` block."""

    def __init__(self, pid):
        self._monitor = ResourceMonitor([pid], [])
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._sample, daemon=True)
        self.now = self.peak = 0

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        self._thread.join()

    def take_peak(self):
        """The peak since the last time it was taken."""
        peak, self.peak = self.peak, self.now
        return peak

    def _sample(self):
        while not self._stopped.wait(SAMPLE_SECONDS):
            self.now = self._monitor.sample().memory.get(SERVER, 0)
            self.peak = max(self.peak, self.now)
