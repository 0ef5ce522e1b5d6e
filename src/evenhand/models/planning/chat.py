"""Questions in the chat template of a model's tokenizer."""

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.core.questions import Choose, Question
from evenhand.errors import UnfitModel
from evenhand.models.planning.tokens import TokenizedText, encode


def template(tokenizer: Any) -> str | None:
    """The tokenizer's chat template; None where it has none. Of several, the default one."""
    found = getattr(tokenizer, "chat_template", None)
    return found.get("default") if isinstance(found, dict) else found


def messages(question: Choose) -> list[dict[str, str]]:
    """The turns before the reply: the system prompt, if there is one, and the user's."""
    before = [{"role": "system", "content": question.system}] if question.system else []
    return [*before, {"role": "user", "content": question.text}]


def replies(
    model: str, tokenizer: Any, questions: Iterable[Question]
) -> dict[Choose, Sequence[tuple[TokenizedText, int]]]:
    """For each `Choose` with `chat`, each option behind the template, as tokens, and the character where it starts."""
    asked = [question for question in questions if isinstance(question, Choose) and question.chat]
    if not asked:
        return {}
    if not template(tokenizer):
        raise UnfitModel(f"The tokenizer of '{model}' has no chat template. Leave out `chat`: a plain prompt.")
    try:
        before = {
            question: str(tokenizer.apply_chat_template(messages(question), tokenize=False, add_generation_prompt=True))
            for question in asked
        }
    except Exception as error:  # templates are programs, and raise what they like
        raise UnfitModel(
            f"The chat template of '{model}' refuses the prompt: {error}. Some take no `system` prompt."
        ) from error
    texts = {question: [before[question] + option for option in question.continuations] for question in asked}
    found = encode(tokenizer, (text for several in texts.values() for text in several), 2**31, templated=True)
    return {question: [(found[text], len(before[question])) for text in texts[question]] for question in asked}
