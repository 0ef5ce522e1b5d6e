"""What users call: how much it does, whatever it measures."""

import sys
from pathlib import Path
from typing import Any

import evenhand
from evenhand.models.loading.names import find
from evenhand.runs.record import read_record


def test_a_name_is_resolved_once_and_the_record_is_read_twice(tmp_path: Path) -> None:
    """The record: before the model is loaded, and again when the folder is locked."""
    evenhand.audit("mini-en", dataset="tgb", limit=4, out=tmp_path)
    counted = {find.__code__: 0, read_record.__code__: 0}

    def count(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code in counted:
            counted[frame.f_code] += 1

    sys.setprofile(count)
    try:
        evenhand.audit("mini-en", dataset="tgb", limit=4, out=tmp_path)
    finally:
        sys.setprofile(None)
    assert counted[find.__code__] == 1
    assert counted[read_record.__code__] <= 2
