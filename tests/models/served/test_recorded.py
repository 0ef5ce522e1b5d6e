"""Replies in the documented shapes of vLLM's and Ollama's servers, through the whole model.

Each file has a server's replies with all of their fields, and places for the text and the numbers, which a model of
ours fills in: the answers must be those of the same model behind a plain server.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand import Choose, Likelihood
from evenhand.core.questions import Question
from helpers import tiny

from .conftest import Connect

FILES = {path.stem: json.loads(path.read_text()) for path in (Path(__file__).parent / "recorded").glob("*.json")}
OPTIONS = ("He", "She")
ASKED: list[Question] = [
    Likelihood(tiny.TEXTS[0]),
    Choose("Who works?", OPTIONS, by="letters"),
    Choose("Who works?", OPTIONS, by="letters", chat=True),
    Choose("Who works?", OPTIONS, by="digits", chat=True, system="Be brief."),
]


def filled(shape: Any, places: dict[str, Any]) -> Any:
    """The shape with the text and numbers in their places."""
    if isinstance(shape, str):
        return places.get(shape, shape)
    if isinstance(shape, list):
        return [filled(part, places) for part in shape]
    return {name: filled(part, places) for name, part in shape.items()} if isinstance(shape, dict) else shape


def without_bytes(listed: Any) -> Any:
    """Log-probabilities as Ollama gives them."""
    if isinstance(listed, list):
        return [without_bytes(part) for part in listed]
    if isinstance(listed, dict):
        return {name: without_bytes(part) for name, part in listed.items() if name != "bytes"}
    return listed


@pytest.mark.parametrize("name", FILES)
def test_a_documented_shape_is_read(connect: Connect, name: str) -> None:
    file = FILES[name]

    def shaped(reply: dict[str, Any], chat: bool) -> dict[str, Any]:
        choice = reply["choices"][0]
        places = {
            "<text>": choice["message"]["content"] if chat else choice["text"],
            "<logprobs>": without_bytes(choice.get("logprobs")) if "ollama" in name else choice.get("logprobs"),
            "<prompt_logprobs>": choice.get("prompt_logprobs"),
            "<prompt tokens>": reply["usage"]["prompt_tokens"] + file.get("template_tokens", 0),
        }
        found: dict[str, Any] = filled(file["chat" if chat else "completions"], places)
        return found

    gives = frozenset(file["gives"])
    _, model = connect(gives=gives, shaped=shaped, samples=2)
    assert model.ability.kind == file["kind"]
    assert model.ability.thinks == file.get("thinks", False)
    assert model.ability.text == ("completions" in file and "template_tokens" not in file)
    asked = [question for question in ASKED if not model.cannot(question)]
    assert len(asked) == {"a": 4 if "chat" in file else 2, "b": 2, "c": 2}[file["kind"]]
    answers = model.answer(asked)
    if model.ability.thinks:  # the text alone, which is A
        assert answers[0].logps[0] > answers[0].logps[1]
    else:
        assert answers == connect(gives=gives, samples=2)[1].answer(asked)
    spent = model.spend()
    assert spent["requests"] > len(asked)
    assert spent["prompt_tokens"] > spent["completion_tokens"] > 0


def test_vllm_and_ollama_are_recorded() -> None:
    assert set(FILES) >= {"vllm-echo", "vllm-prompt-logprobs", "vllm-reasoning", "ollama-older", "ollama-newer"}
