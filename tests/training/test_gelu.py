"""The quicker GELU is a GELU."""

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import gelu
from transformers.activations import GELUActivation

from evenhand.training.loop import _Gelu, use_fast_gelu


@given(st.lists(st.floats(-40, 40, width=32), min_size=1, max_size=20))
def test_value_and_derivative_are_the_librarys(numbers: list[float]) -> None:
    found = []
    for function in (gelu, _Gelu.apply):
        x = torch.tensor(numbers, requires_grad=True)
        y = function(x)
        y.sum().backward()
        found.append((y.detach(), x.grad))
    torch.testing.assert_close(found[0], found[1], rtol=1e-4, atol=1e-5)


def test_it_is_put_where_the_library_has_its_own_alone() -> None:
    class Network(torch.nn.Sequential):
        device = torch.device("cpu")

    plain, by_hand = GELUActivation(), GELUActivation(use_gelu_python=True)
    use_fast_gelu(Network(plain, by_hand))
    assert plain.act == _Gelu.apply
    assert by_hand.act != _Gelu.apply
