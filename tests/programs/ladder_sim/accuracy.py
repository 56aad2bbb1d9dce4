"""Accuracy of ratings: rank correlation by games played, calibration, and who met whom."""

import statistics
from collections import defaultdict

from tests.programs.ladder_sim.simulation import LadderSimulation

MILESTONES = (5, 10, 20, 40, 80)
"""Games per bot, on average, after which everything is measured."""


def ranks_of(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    for rank, index in enumerate(order):
        ranks[index] = float(rank)
    return ranks


def correlation(one, other):
    """Spearman's rank correlation."""
    return statistics.correlation(ranks_of(one), ranks_of(other))


def standardised_errors(simulation, system):
    """How far each mean is from the true strength, in units of the system's own uncertainty.

    A rating has neither a zero nor a unit of its own, so a linear fit is subtracted.
    """
    found = [(each.strength, system.rating(each.name)) for each in simulation.entrants]
    means = [rating.mean for _, rating in found]
    slope, offset = statistics.linear_regression([strength for strength, _ in found], means)
    return [
        (rating.mean - offset - slope * strength) / rating.uncertainty
        for strength, rating in found
        if rating.uncertainty
    ]


class AccuracyReport:
    """Measurements of many runs, by system and milestone."""

    def __init__(self):
        self.correlations = defaultdict(list)
        self.errors = defaultdict(list)
        self.mixed = []

    def add(self, name, games, simulation, system):
        means = [system.rating(each.name).mean for each in simulation.entrants]
        self.correlations[name, games].append(
            correlation(means, [each.strength for each in simulation.entrants])
        )
        self.errors[name, games] += standardised_errors(simulation, system)

    def correlation(self, name, games):
        return statistics.fmean(self.correlations[name, games])

    def coverage(self, name, games):
        """The share of bots whose strength lies within two uncertainties of the mean."""
        found = self.errors[name, games]
        return sum(abs(each) <= 2 for each in found) / len(found) if found else None

    def mixing(self):
        """How often slow bots met fast ones, as a share of what random pairing would give."""
        return statistics.fmean(self.mixed)


def measure(makers, *, runs, seats, milestones=MILESTONES, guided="Himeji", **options):
    """Let the systems rate the same games; the matchmaker uses the ratings of `guided`."""
    report = AccuracyReport()
    for seed in range(runs):
        simulation = LadderSimulation(seed, seats=seats, **options)
        systems = {name: make() for name, make in makers.items()}
        entrants = simulation.entrants
        left = list(milestones)
        slow_met_fast = slow_met = 0
        for players, ranks in simulation.play(systems[guided].rating):
            for system in systems.values():
                system.rate(players, ranks)
            slow, fast = _slow_and_fast(simulation, players)
            slow_met_fast += slow * fast
            slow_met += slow * (slow + fast - 1)
            if sum(each.games for each in entrants) / len(entrants) >= left[0]:
                games = left.pop(0)
                for name, system in systems.items():
                    report.add(name, games, simulation, system)
                if not left:
                    break
        fast = sum(not each.slow for each in entrants)
        report.mixed.append(slow_met_fast / max(1, slow_met) / (fast / (len(entrants) - 1)))
    return report


def _slow_and_fast(simulation, players):
    """How many slow and how many fast entrants play in a game."""
    entrants = [simulation.bots[name] for name in players if not name.startswith("house/")]
    slow = sum(each.slow for each in entrants)
    return slow, len(entrants) - slow
