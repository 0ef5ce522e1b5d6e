"""Options of datasets: a name or a value that there is not is refused by both."""

from typing import Any

import pytest

from evenhand import BadInput, datasets


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("becpro-en", {"articles": "french"}, "articles.*'french'"),
        ("tbd", {"reading": "dirty"}, "reading.*'dirty'"),
        ("choices-pronouns", {"language": "de"}, "language.*'choices-pronouns'|'choices-pronouns'.*language"),
        ("nli-coal-en", {"words": "some"}, "words.*'some'"),
        ("nli-coal-en", {"rows": "dirty"}, "rows.*'dirty'"),
        ("nli-ja", {"segmented": "maybe"}, "'no' or 'yes'"),
        ("gest", {"version": "2"}, "version.*'2'"),
        ("gest", {"template": "0"}, "template.*'0'"),
        ("gest-causal", {"template": "1"}, "template.*'1'"),
        ("weat", {"test": "11"}, "test.*'11'"),
        ("seat", {"test": "11"}, "test.*'11'"),
        ("bbq-ambiguous", {"order": "every"}, "balanced.*released.*all"),
        ("bbq-ambiguous-ko", {"order": "every"}, "balanced.*released.*all"),
        ("stories-en", {"subjects": "animals"}, "subjects.*'animals'"),
        ("stories-en", {"forms": "story,poem"}, "poem"),
        ("stories-en", {"forms": ""}, "form"),
        ("stories-en", {"forms": "unconditioned"}, "unconditioned"),
        ("stories-en", {"forms": "unconditioned, unconditioned"}, "unconditioned"),
        ("stories-en", {"wording": "chat"}, "wording"),
    ],
)
def test_an_option_or_a_value_that_there_is_not_is_refused(name: str, options: dict[str, Any], says: str) -> None:
    with pytest.raises(BadInput, match=says):
        datasets.load(name, **options)
