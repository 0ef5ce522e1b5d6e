"""Two processes train with a gate that fails. BASE OUT"""

import os
import socket
import sys
from pathlib import Path

from torch.multiprocessing.spawn import start_processes

from evenhand.integrations import BiasCallback
from integrations.test_trainer import KEY, PAIRS, gate, logged, train


def work(rank: int, port: int, base: Path, out: Path) -> None:
    about = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "MASTER_PORT": port}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", **{name: str(number) for name, number in about.items()}}
    bias = BiasCallback(**PAIRS, every=2, out=out / "runs", gate=gate(low=1000))
    trainer = train(base, out, bias, max_steps=8)
    outcome = f"stopped at {trainer.state.global_step}, logged {len(logged(trainer, KEY))}"
    (out / f"rank-{trainer.args.process_index}").write_text(outcome)


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    # As torchrun does, but what they import is imported once.
    arguments = port, Path(sys.argv[1]), Path(sys.argv[2])
    start_processes(work, arguments, nprocs=2, start_method="fork")  # type: ignore[no-untyped-call]
