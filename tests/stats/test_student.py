import subprocess
import sys

import pytest
from scipy import stats

from evenhand.stats.intervals import quantile, tail


@pytest.mark.parametrize("freedom", [1, 2.5, 19, 1e6])
def test_both_are_those_of_scipy_stats(freedom: float) -> None:
    for q in (0.001, 0.5, 0.975, 0.9999):
        assert quantile(q, freedom) == stats.t.ppf(q, freedom)
    for t in (-3.0, 0.0, 2.1, 40.0):
        assert tail(t, freedom) == stats.t.sf(t, freedom)


def test_verdicts_and_intervals_do_not_import_scipy_stats() -> None:
    """It takes a second, which every command would pay for."""
    code = (
        "import sys, evenhand.stats.verdict, evenhand.stats.mean_intervals as _; sys.exit('scipy.stats' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
