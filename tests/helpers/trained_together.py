"""Two processes train with a gate that fails. BASE OUT"""

import sys
from pathlib import Path

from evenhand.integrations import BiasCallback
from helpers.two_processes import start_two
from integrations.test_trainer import KEY, PAIRS, gate, logged, train


def work(base: Path, out: Path) -> None:
    bias = BiasCallback(**PAIRS, every=2, out=out / "runs", gate=gate(low=1000))
    trainer = train(base, out, bias, max_steps=8)
    outcome = f"stopped at {trainer.state.global_step}, logged {len(logged(trainer, KEY))}"
    (out / f"rank-{trainer.args.process_index}").write_text(outcome)


if __name__ == "__main__":
    start_two(work, Path(sys.argv[1]), Path(sys.argv[2]))
