"""Every run brings the view to the pinned versions, by the way that is predicted to cost less.

A simple rule: seconds per gigabyte and per million rows, measured on two cores (docs/cost.md).
Costs that both ways share (planning, one commit) are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

GB = 1e9
SCAN = 20.0  # read, join and aggregate a gigabyte of a source
WRITE = 36.0  # write a gigabyte of storage
DIFF = 40.0  # read and net two snapshots of a gigabyte
FIND = 10.0  # find scattered rows in a gigabyte of storage
CHANGED = 20.0  # capture, join and apply a million changed rows

# A rebuild that is over in a moment is no reason to give up a clean feed for the views above.
WORTHWHILE = 5.0


@dataclass(frozen=True)
class Facts:
    """Sizes in bytes; `changed` maps a changed source to its changed rows, None if unknown."""

    sizes: Mapping[str, int]
    storage: int
    changed: Mapping[str, int | None]
    diffed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Prediction:
    incremental: float
    rebuild: float

    @property
    def prefers_rebuild(self) -> bool:
        return self.rebuild > WORTHWHILE and self.incremental > self.rebuild

    def __str__(self) -> str:
        return f"predicted {self.incremental:.1f} s incremental, {self.rebuild:.1f} s rebuild"


def predict(facts: Facts) -> Prediction:
    """
    >>> star = {"fact": 500_000_000, "dim": 1_000_000}
    >>> predict(Facts(star, 600_000_000, {"fact": 15_000})).prefers_rebuild
    False
    >>> predict(Facts(star, 600_000_000, {"fact": 3_000_000})).prefers_rebuild
    True
    """
    total = sum(facts.sizes.values())
    rebuild = SCAN * total / GB + WRITE * facts.storage / GB
    incremental = FIND * facts.storage / GB
    for source, rows in facts.changed.items():
        size = facts.sizes.get(source, 0)
        incremental += SCAN * (total - size) / GB
        if source in facts.diffed:
            incremental += DIFF * size / GB
        # Without metrics: as many as a tenth of the table, at a hundred bytes a row.
        incremental += CHANGED * (rows if rows is not None else size / 1000) / 1e6
    return Prediction(incremental, rebuild)
