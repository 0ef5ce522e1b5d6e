"""Models: what answers questions. The rest of the package knows them by `base.Model` alone."""

from typing import TYPE_CHECKING

from evenhand.models.names import DEFAULT, find

if TYPE_CHECKING:
    from evenhand.models.masked import MaskedLM


def load(
    name: str = DEFAULT,
    *,
    revision: str | None = None,
    dtype: str = "float32",
    device: str | None = None,
    batch_size: int | str = "auto",
    trust_remote_code: bool = False,
) -> "MaskedLM":
    """A model by bundled name, folder or Hub id, ready to answer."""
    found = find(name)
    from evenhand.models.loading import load_masked

    return load_masked(
        found,
        revision=revision,
        dtype=dtype,
        device=device,
        batch_size=batch_size,
        trust_remote_code=trust_remote_code,
    )
