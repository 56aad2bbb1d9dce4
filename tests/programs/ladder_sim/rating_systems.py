"""The rating systems that are compared: ours, its variants, and two references."""

import math

import trueskill
from himeji_server.ladder.rating import BETA, MEAN, TAU, UNCERTAINTY, Rating, updated
from openskill.models import PlackettLuce


class Ours:
    """The ladder's own rating code."""

    def __init__(self):
        self.ratings = {}

    def rating(self, name):
        return self.ratings.get(name, Rating())

    def played(self, table, ranks):
        after = updated([self.rating(name) for name in table], ranks)
        self.ratings.update(zip(table, after, strict=True))


class Variant(Ours):
    """Ours with another parameter."""

    def __init__(self, *, gamma=None, tau=TAU):
        super().__init__()
        factor = {} if gamma is None else {"gamma": lambda *_, **__: gamma}
        self._model = PlackettLuce(mu=MEAN, sigma=UNCERTAINTY, beta=BETA, tau=tau, **factor)

    def played(self, table, ranks):
        before = [self.rating(name) for name in table]
        teams = [[self._model.rating(mu=each.mean, sigma=each.uncertainty)] for each in before]
        after = self._model.rate(teams, ranks=[*map(float, ranks)])
        for name, (new,) in zip(table, after, strict=True):
            self.ratings[name] = Rating(new.mu, new.sigma)


class TrueSkill(Ours):
    """TrueSkill, as the package of that name computes it."""

    def __init__(self):
        super().__init__()
        self._model = trueskill.TrueSkill(MEAN, UNCERTAINTY, BETA, TAU, draw_probability=0.0)

    def played(self, table, ranks):
        before = [self.rating(name) for name in table]
        teams = [(self._model.create_rating(each.mean, each.uncertainty),) for each in before]
        after = self._model.rate(teams, ranks=ranks)
        for name, (new,) in zip(table, after, strict=True):
            self.ratings[name] = Rating(new.mu, new.sigma)


class Elo(Ours):
    """Plain Elo with K = 32, every pair at a table taken as a game of its own; no uncertainty."""

    K = 32.0
    SCALE = 400.0

    def rating(self, name):
        return self.ratings.get(name, Rating(1500.0, 0.0))

    def played(self, table, ranks):
        before = [self.rating(name).mean for name in table]
        for own, name in enumerate(table):
            change = 0.0
            for other in range(len(table)):
                if other != own:
                    expected = 1 / (1 + 10 ** ((before[other] - before[own]) / self.SCALE))
                    won = 0.5 + math.copysign(0.5, ranks[other] - ranks[own])
                    change += (0.5 if ranks[other] == ranks[own] else won) - expected
            share = self.K / (len(table) - 1)
            self.ratings[name] = Rating(before[own] + share * change, 0.0)


SYSTEMS = {"Himeji": Ours, "Elo": Elo, "TrueSkill": TrueSkill}
VARIANTS = {
    "gamma as in openskill": Variant,
    "gamma = 1, no tau": lambda: Variant(gamma=1.0, tau=1e-9),
    "gamma = 1, tau = mean/100": lambda: Variant(gamma=1.0, tau=MEAN / 100),
}
