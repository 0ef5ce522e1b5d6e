"""Sequences that begin in the same way share their beginning: inputs are trees, with each token in its context once.

A tree is one row of tokens with their parents (see `codes`), each node behind its parent.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.models.planning.codes import join
from evenhand.models.planning.plan import Cell, Ids, Read, common_beginning

Place = tuple[int, int]
"""A row, and a node in it."""


class Forest:
    """Rows that hold every sequence as a path from the root.

    A row takes sequences that begin with the same token until it has `most` nodes, or twice as many as the longest of
    them, so that a long beginning is there once for its continuations; with `most=0` it has no branches, and takes a
    sequence and those that it continues. A beginning may then be in several rows, but is read only in the
    first, so that the same token after the same tokens has the same number, to the last bit.
    """

    def __init__(self, sequences: Iterable[Ids], size: int, most: int) -> None:
        rows: list[list[int]] = [[]]
        parents: list[list[int]] = [[]]
        path: list[int] = []  # the last sequence's nodes in the last row
        homes: list[Place] = []  # where each of them is read
        last: Ids = ()
        self._homes: dict[Ids, tuple[Place, ...]] = {}
        for ids in sorted(set(sequences)):
            same = common_beginning([last, ids])
            path, homes = path[:same], homes[:same]
            room = max(most, 2 * len(ids)) if most else 0
            if rows[-1] and (not same or (len(rows[-1]) + len(ids) - same > room and same < len(rows[-1]))):
                rows.append([])
                parents.append([])
                path = []
            for depth in range(len(path), len(ids)):
                rows[-1].append(ids[depth])
                parents[-1].append(path[-1] if path else 0)
                path.append(len(rows[-1]) - 1)
                if depth == len(homes):
                    homes.append((len(rows) - 1, path[-1]))
            self._homes[ids] = tuple(homes)
            last = ids
        self.rows: list[Ids] = [join(row, above, size) for row, above in zip(rows, parents, strict=True)]

    def path(self, ids: Ids) -> list[tuple[Ids, int]]:
        """The row and node of each token of a sequence."""
        return [(self.rows[row], node) for row, node in self._homes[ids]]

    def reads(self, ids: Ids, asked: Sequence[int]) -> tuple[Read, ...]:
        """The reads for these tokens of a sequence, one for each row; a token is read at the node before it."""
        if not asked:
            return ()
        homes = self._homes[ids[: max(asked)]]
        cells: dict[int, list[Cell]] = {}
        for position in asked:
            row, node = homes[position - 1]
            cells.setdefault(row, []).append((node, ids[position]))
        return tuple(Read(self.rows[row], tuple(found)) for row, found in cells.items())


def seen(parents: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which nodes each node attends to, itself and its ancestors: (rows, nodes, nodes) from (rows, nodes)."""
    rows, nodes = parents.shape
    every = np.arange(rows)
    found = np.zeros((rows, nodes, nodes), dtype=np.bool_)
    for node in range(nodes):
        if node:
            found[:, node] = found[every, parents[:, node]]
        found[:, node, node] = True
    return found
