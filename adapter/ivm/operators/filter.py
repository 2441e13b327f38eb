"""σ: linear, so a delta is filtered like any other rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.plan import Dependency, Operator, Signed, State, States, selected
from ivm.sql import column, columns_in, conjuncts


@dataclass(frozen=True)
class Filter(Operator):
    name = "filter"
    input: Operator
    condition: exp.Expr

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[str, ...]:
        return self.input.columns

    @property
    def ids(self) -> tuple[str, ...]:
        return self.input.ids

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Filter:
        return replace(self, input=inputs[0])

    def require(self, needed: frozenset[str]) -> Filter:
        return replace(self, input=self.input.require(needed | self.conditional()))

    def dependencies(self) -> tuple[Dependency, ...]:
        return self.input.dependencies() + equality_dependencies(conjuncts(self.condition))

    def state(self, states: States, which: State) -> Signed:
        return self._filtered(self.input.state(states, which))

    def tuple_delta(self, states: States) -> Signed | None:
        delta = self.input.tuple_delta(states)
        return delta and self._filtered(delta)

    def _filtered(self, rows: Signed) -> Signed:
        return selected(rows, [column(c) for c in self.columns], self.condition)

    def conditional(self) -> frozenset[str]:
        return columns_in(self.condition)

    def detail(self) -> str:
        return self.condition.sql("spark")


def equality_dependencies(conditions: tuple[exp.Expr, ...]) -> tuple[Dependency, ...]:
    """`a = b` makes each determine the other; `a = literal` makes `a` constant."""
    found: list[Dependency] = []
    for condition in conditions:
        if not isinstance(condition, exp.EQ):
            continue
        left, right = condition.left, condition.right
        for one, other in ((left, right), (right, left)):
            if isinstance(one, exp.Column):
                if isinstance(other, exp.Column):
                    found.append((frozenset({other.name}), frozenset({one.name})))
                elif isinstance(other, exp.Literal):
                    found.append((frozenset(), frozenset({one.name})))
    return tuple(found)
