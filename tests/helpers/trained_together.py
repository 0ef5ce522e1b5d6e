"""Run by two processes at once: train with a gate that fails. BASE OUT"""

import sys
from pathlib import Path

from evenhand.integrations import BiasCallback
from integrations.test_trainer import KEY, PAIRS, gate, logged, train

if __name__ == "__main__":
    base, out = Path(sys.argv[1]), Path(sys.argv[2])
    bias = BiasCallback(**PAIRS, every=2, out=out / "runs", gate=gate(low=1000))
    trainer = train(base, out, bias, max_steps=8)
    told = f"stopped at {trainer.state.global_step}, logged {len(logged(trainer, KEY))}"
    (out / f"rank-{trainer.args.process_index}").write_text(told)
