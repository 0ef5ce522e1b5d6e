"""The documented shapes of vLLM's, SGLang's, llama.cpp's and OpenAI's replies are read; others are refused in words."""

from typing import Any

import pytest

from evenhand import Likelihood
from evenhand.errors import ModelError
from evenhand.models.served import asking, replies
from evenhand.models.served.asking import Ability

VLLM_ECHO: dict[str, Any] = {  # docs.vllm.ai, OpenAI-compatible server: completions with echo=true, logprobs=1
    "id": "cmpl-1",
    "object": "text_completion",
    "model": "meta-llama/Llama-3.2-1B",
    "choices": [
        {
            "index": 0,
            "text": "<|begin_of_text|>She works.\n",
            "logprobs": {
                "text_offset": [0, 17, 20, 26, 27],
                "token_logprobs": [None, -5.5, -7.25, -1.5, -0.5],
                "tokens": ["<|begin_of_text|>", "She", " works", ".", "\n"],
                "top_logprobs": [
                    None,
                    {"She": -5.5, "Question": -1.0},
                    {" works": -7.25, " is": -1.0},
                    {".": -1.5},
                    {},
                ],
            },
            "finish_reason": "length",
            "stop_reason": None,
            "prompt_logprobs": None,
        }
    ],
    "usage": {"prompt_tokens": 4, "total_tokens": 5, "completion_tokens": 1},
}
VLLM_PROMPT: dict[str, Any] = {  # the same with prompt_logprobs=0, an extension of vLLM's
    "model": "meta-llama/Llama-3.2-1B",
    "choices": [
        {
            "index": 0,
            "text": "\n",
            "logprobs": None,
            "prompt_logprobs": [
                None,
                {"8100": {"logprob": -5.5, "rank": 99, "decoded_token": "She"}},
                {"4375": {"logprob": -7.25, "rank": 120, "decoded_token": " works"}},
                {"13": {"logprob": -1.5, "rank": 2, "decoded_token": "."}},
            ],
        }
    ],
}
SGLANG_ECHO: dict[str, Any] = {  # docs.sglang.ai, OpenAI APIs - completions, echo with logprobs
    "model": "qwen/qwen2.5-0.5b-instruct",
    "choices": [
        {
            "index": 0,
            "text": "She works.\n",
            "logprobs": {
                "text_offset": [],
                "token_logprobs": [None, -7.25, -1.5, -0.5],
                "tokens": ["She", " works", ".", "\n"],
                "top_logprobs": [None, {" works": -7.25}, {".": -1.5}, {"\n": -0.5}],
            },
            "finish_reason": "length",
            "matched_stop": None,
        }
    ],
}
LLAMA_CPP: dict[str, Any] = {  # llama.cpp's server: tests/test_hosts.py asks the real one
    "model": "smollm2",
    "choices": [
        {
            "text": " Paris",
            "index": 0,
            "logprobs": {
                "content": [
                    {
                        "id": 7042,
                        "token": " Paris",
                        "bytes": [32, 80, 97, 114, 105, 115],
                        "logprob": -0.25,
                        "top_logprobs": [
                            {"id": 7042, "token": " Paris", "bytes": [], "logprob": -0.25},
                            {"id": 260, "token": " the", "bytes": [], "logprob": -2.75},
                        ],
                    }
                ]
            },
            "finish_reason": "length",
        }
    ],
    "usage": {"completion_tokens": 1, "prompt_tokens": 5, "total_tokens": 6},
}
OPENAI_CHAT: dict[str, Any] = {  # platform.openai.com, chat completions with logprobs=true, top_logprobs=2
    "model": "gpt-4o-mini-2024-07-18",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "B", "refusal": None},
            "logprobs": {
                "content": [
                    {
                        "token": "B",
                        "logprob": -0.125,
                        "bytes": [66],
                        "top_logprobs": [
                            {"token": "B", "logprob": -0.125, "bytes": [66]},
                            {"token": "A", "logprob": -2.5, "bytes": [65]},
                        ],
                    }
                ],
                "refusal": None,
            },
            "finish_reason": "length",
        }
    ],
    "usage": {"prompt_tokens": 30, "completion_tokens": 1, "total_tokens": 31},
}
TEXT = Likelihood("She works.")


def test_vllms_echo_and_prompt_logprobs_are_the_same_answer() -> None:
    echoed = asking.answer(TEXT, Ability(whole="echo", text=True), [VLLM_ECHO])
    assert echoed.logps == (-5.5, -7.25, -1.5)
    assert asking.answer(TEXT, Ability(whole="prompt_logprobs", text=True), [VLLM_PROMPT]) == echoed
    assert replies.offsets(VLLM_ECHO) == [0, 17, 20, 26, 27]
    assert replies.prompt_tokens(VLLM_ECHO) == 4


def test_sglangs_echo_without_a_start_token_has_no_number_for_the_first_token() -> None:
    found = asking.answer(TEXT, Ability(whole="echo", text=True), [SGLANG_ECHO])
    assert found.note.startswith("no log-probability of the first token")


def test_the_likeliest_tokens_are_read_from_both_shapes() -> None:
    assert replies.reported_tokens(LLAMA_CPP)[0].top == ((" Paris", -0.25), (" the", -2.75))
    assert replies.reported_tokens(OPENAI_CHAT)[0].top == (("B", -0.125), ("A", -2.5))
    assert replies.text(OPENAI_CHAT) == "B"
    assert replies.text(LLAMA_CPP) == " Paris"
    assert replies.model(OPENAI_CHAT) == "gpt-4o-mini-2024-07-18"


@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": []},
        {"choices": "none"},
        {"choices": [None]},
        {"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": []}}]},
        {"choices": [{"logprobs": {"tokens": ["a"], "token_logprobs": ["much"]}}]},
        {"choices": [{"logprobs": {"content": [{"token": "a"}]}}]},
        {"choices": [{"logprobs": {"content": ["a"]}}]},
    ],
)
def test_another_shape_is_a_sentence(reply: dict[str, Any]) -> None:
    with pytest.raises(ModelError, match="not of the shape of OpenAI's API"):
        replies.reported_tokens(reply)


def test_nothing_is_made_of_what_is_not_there() -> None:
    bare: dict[str, Any] = {"choices": [{}]}
    assert (replies.reported_tokens(bare), replies.of_prompt(bare), replies.text(bare)) == ([], [], "")
    assert (replies.model(bare), replies.prompt_tokens(bare), replies.offsets(bare)) == ("", 0, [])
