"""Student's t distribution, as scipy.stats has it, without scipy.stats: importing that takes a second."""

from scipy import special


def quantile(q: float, freedom: float) -> float:
    """The value below which a share q of the t distribution lies."""
    return float(special.stdtrit(freedom, q))


def tail(t: float, freedom: float) -> float:
    """The probability of a value above t."""
    return float(special.stdtr(freedom, -t))
