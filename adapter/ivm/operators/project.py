"""π with expressions: linear; IDs are carried along even where the SELECT drops them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.functions import changes_rows
from ivm.plan import Dependency, Operator, Signed, State, States, selected
from ivm.sql import alias, column, columns_in


@dataclass(frozen=True)
class Project(Operator):
    name = "project"
    input: Operator
    outputs: tuple[tuple[str, exp.Expr], ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.outputs)

    @property
    def ids(self) -> tuple[str, ...]:
        carried = {e.name: n for n, e in reversed(self.outputs) if isinstance(e, exp.Column)}
        return tuple(carried[i] for i in self.input.ids)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Project:
        return replace(self, input=inputs[0])

    def require(self, needed: frozenset[str]) -> Project:
        kept = tuple((n, e) for n, e in self.outputs if n in needed or changes_rows(e))
        used = frozenset().union(*(columns_in(e) for _, e in kept))
        child = self.input.require(used)
        present = {e.name for _, e in kept if isinstance(e, exp.Column)}
        hidden = tuple((i, column(i)) for i in child.ids if i not in present)
        if not kept + hidden:
            # Of a row without IDs of which nothing is read, one column carries that it exists.
            return self.require(frozenset({self.outputs[0][0]}))
        return replace(self, input=child, outputs=kept + hidden)

    def dependencies(self) -> tuple[Dependency, ...]:
        found = list(self.input.dependencies())
        for name, expression in self.outputs:
            found.append((columns_in(expression), frozenset({name})))
            if isinstance(expression, exp.Column):
                found.append((frozenset({name}), frozenset({expression.name})))
        return tuple(found)

    def state(self, states: States, which: State) -> Signed:
        return self._projected(self.input.state(states, which))

    def tuple_delta(self, states: States) -> Signed | None:
        delta = self.input.tuple_delta(states)
        return delta and self._projected(delta)

    def _projected(self, rows: Signed) -> Signed:
        return selected(rows, [alias(e, n) for n, e in self.outputs])

    def conditional(self) -> frozenset[str]:
        return frozenset()

    def detail(self) -> str:
        return ", ".join(alias(e, n).sql("spark") for n, e in self.outputs)
