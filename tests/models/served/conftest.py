from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from tokenizers import decoders

from evenhand.models.networks.causal import CausalLM
from evenhand.models.served.connection import Address
from evenhand.models.served.model import ServedModel
from helpers import tiny
from helpers.openai_server import FakeServer, serving
from helpers.typed import load

Connect = Callable[..., tuple[FakeServer, ServedModel]]


@pytest.fixture(scope="package")
def local(tmp_path_factory: pytest.TempPathFactory) -> CausalLM:
    """The model behind the server, in this process."""
    tokenizer = tiny.continuing_bytes()
    tokenizer.model_max_length = 512
    tokenizer.backend_tokenizer.decoder = decoders.ByteLevel()  # texts of tokens as a server gives them
    folder = tmp_path_factory.mktemp("models") / "tiny"
    return load(CausalLM, str(tiny.save_causal("gpt2", folder, tokenizer=tokenizer, max_position_embeddings=512)))


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What fails is sent again almost at once."""
    monkeypatch.setattr("evenhand.models.served.client.FIRST_WAIT", 0.01)


@pytest.fixture
def connect(local: CausalLM) -> Iterator[Connect]:
    """Starts a server and loads its model; keyword arguments are those of both."""
    with ExitStack() as stack:

        def started(
            *, patience: float = 3.0, samples: int = 8, concurrency: int = 4, labels: str = "", **how: Any
        ) -> Any:
            server = FakeServer(local, **how)
            url = stack.enter_context(serving(server.app()))
            how = {"patience": patience, "samples": samples, "concurrency": concurrency, "labels": labels}
            return server, ServedModel(Address("tiny", url, server.key), **how)

        yield started
