"""The instruments themselves: do they see what they are for?"""

from helpers.opened import Opened


def test_errors_requests_and_barriers_are_seen(opened: Opened) -> None:
    opened.page.goto(
        "data:text/html,<html><img src='http://nowhere.invalid/x.png'><script>console.error('oh')</script>"
    )
    assert "oh" in opened.errors
    assert opened.elsewhere() == ["http://nowhere.invalid/x.png"]
    assert any(found.startswith("image-alt") for found in opened.violations())
