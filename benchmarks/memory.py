"""Memory above the weights: the pseudo-log-likelihood of one long sentence with a vocabulary of a quarter million."""

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import shapes
from benchmarks.rows import Row

WORDS = 350
VOCABULARY = 250_000
SHAPE = {"width": 384, "layers": 2}  # what is alive at once is of one layer and the head: more layers only take longer


def rows() -> Iterator[Row]:
    """In a process of its own; what minicons would need is computed, not tried: it holds all logits at once."""
    with TemporaryDirectory() as folder:
        shapes.bert(Path(folder), **SHAPE, vocabulary=VOCABULARY)
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.memory", folder], capture_output=True, text=True, check=True
        )
    above, seconds, inputs, length = (float(word) for word in done.stdout.split())
    theirs = inputs * length * VOCABULARY * 4 / 1e9
    yield Row(
        f"Memory above the weights, one sentence of {WORDS} words, vocabulary {VOCABULARY:,}",
        ours=above,
        unit="GB",
        goal=2,
        note=f"{inputs:.0f} inputs of {length:.0f} tokens in {seconds:.0f} s; width {SHAPE['width']}. minicons would "
        f"hold logits of {theirs:.0f} GB (computed)",
    )


def measured(folder: str) -> None:
    """Print gigabytes at the peak above libraries and weights, seconds, inputs and their length."""
    import evenhand
    import evenhand.models.loading.load
    from evenhand.core.questions import Likelihood

    libraries = _status("VmRSS") * 1024
    model = evenhand.load(folder)
    weights = sum(each.numel() * each.element_size() for each in model.network.parameters())
    question = Likelihood(" ".join(["she", "works", "as", "a", "nurse", "and"][n % 6] for n in range(WORDS)))
    plan = model.plan([question])
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # the peak starts again from here
    start = time.perf_counter()
    (answer,) = model.answer([question])
    seconds = time.perf_counter() - start
    assert len(answer.logps) == WORDS, answer.note
    above = _status("VmHWM") * 1024 - libraries - weights  # what loading left behind is held against us
    print(above / 1e9, seconds, plan.inputs, len(plan.batches[0].inputs[0]))


def _status(field: str) -> int:
    """In kB."""
    found = re.search(rf"^{field}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.M)
    assert found
    return int(found[1])


if __name__ == "__main__":
    measured(sys.argv[1])
