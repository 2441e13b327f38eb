"""Pass 3: the tuple delta of a plan for the sources that changed in this refresh."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlglot import exp

from ivm import names
from ivm.operators import Scan
from ivm.plan import Operator, Signed
from ivm.sql import alias, column, hole, number, select, union_all


@dataclass(frozen=True)
class Pinned:
    """Base tables at their pinned versions. The pre-state is computed, Post ⊎ −D, never read:
    Delta refuses old versions, and a bag is right where a key is violated.

    `large`: sources whose changes are too many to be broadcast.
    """

    sources: frozenset[str]
    large: frozenset[str] = field(default=frozenset())

    def changed(self, scan: Scan) -> bool:
        return scan.table.name in self.sources

    def post(self, scan: Scan) -> Signed:
        return Signed(select(self._outputs(scan), hole(names.POST, scan.table.name)), False)

    def delta(self, scan: Scan) -> Signed:
        outputs = [*self._outputs(scan), column(names.WEIGHT)]
        small = scan.table.name not in self.large
        return Signed(select(outputs, hole(names.CHANGES, scan.table.name)), True, small)

    def pre(self, scan: Scan) -> Signed:
        if not self.changed(scan):
            return self.post(scan)
        now = [*self._outputs(scan), alias(number(1), names.WEIGHT)]
        undone = [
            *self._outputs(scan),
            alias(exp.Neg(this=column(names.WEIGHT)), names.WEIGHT),
        ]
        queries = [
            select(now, hole(names.POST, scan.table.name)),
            select(undone, hole(names.CHANGES, scan.table.name)),
        ]
        return Signed(union_all(queries), True)

    def _outputs(self, scan: Scan) -> list[exp.Expr]:
        return [alias(column(base), output) for base, output in scan.outputs]


def used_columns(plan: Operator) -> dict[str, tuple[str, ...]]:
    """Per base table the columns that any occurrence reads: changes are netted over these."""
    found: dict[str, dict[str, None]] = {}
    for op in plan.walk():
        if isinstance(op, Scan):
            found.setdefault(op.table.name, {}).update(dict.fromkeys(b for b, _ in op.outputs))
    return {table: tuple(columns) for table, columns in found.items()}
