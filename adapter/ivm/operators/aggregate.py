"""γ: groups kept as counting state; touched groups change by a netted summary delta.

State per group: the number of rows, and per summed expression its sum and how many of its values
were not NULL (a SUM over nothing but NULLs is NULL).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.plan import Dependency, Operator, Signed, State, States, selected
from ivm.sql import alias, columns_in, number


@dataclass(frozen=True)
class Call:
    """An aggregate call. `argument` already holds the FILTER: NULL where it is not satisfied.

    `argument` is None for COUNT(*) without a filter.
    """

    output: str
    function: str
    argument: exp.Expr | None


@dataclass(frozen=True)
class Aggregate(Operator):
    """`grouped` is false for an aggregate without GROUP BY: one row, also over nothing."""

    name = "aggregate"
    input: Operator
    keys: tuple[tuple[str, exp.Expr], ...]
    calls: tuple[Call, ...]
    grouped: bool

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return (self.input,)

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.keys) + tuple(c.output for c in self.calls)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(n for n, _ in self.keys)

    @property
    def arguments(self) -> tuple[exp.Expr, ...]:
        """The distinct aggregated expressions, in order of appearance."""
        found: list[exp.Expr] = []
        for call in self.calls:
            if call.argument is not None and call.argument not in found:
                found.append(call.argument)
        return tuple(found)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Aggregate:
        return replace(self, input=inputs[0])

    def require(self, needed: frozenset[str]) -> Aggregate:
        calls = tuple(c for c in self.calls if c.output in needed)
        trimmed = replace(self, calls=calls)
        used = self.conditional().union(*(columns_in(a) for a in trimmed.arguments))
        return replace(trimmed, input=self.input.require(used))

    def dependencies(self) -> tuple[Dependency, ...]:
        return ((frozenset(self.ids), frozenset(self.columns)),)

    def aggregated(self, states: States) -> Signed | None:
        """The rows that the summary delta sums up: keys, arguments, weight."""
        delta = self.input.tuple_delta(states)
        return delta and self._arguments(delta)

    def summed(self, states: States) -> Signed:
        """The same, for all rows of the post-state."""
        return self._arguments(self.input.state(states, "post"))

    def _arguments(self, rows: Signed) -> Signed:
        outputs = [alias(e, n) for n, e in self.keys]
        outputs += [alias(a, argument_name(i)) for i, a in enumerate(self.arguments)]
        # COUNT(*) of everything reads no column, but a SELECT needs one.
        return selected(rows, outputs or [alias(number(1), argument_name(0))])

    def state(self, states: States, which: State) -> Signed:
        raise NotImplementedError("an aggregate is the top of a maintained plan")

    def tuple_delta(self, states: States) -> Signed | None:
        raise NotImplementedError("an aggregate's change is applied to its state, see ivm.apply")

    def conditional(self) -> frozenset[str]:
        return frozenset().union(*(columns_in(e) for _, e in self.keys))

    def detail(self) -> str:
        keys = ", ".join(alias(e, n).sql("spark") for n, e in self.keys)
        calls = ", ".join(
            f"{c.output} = {c.function}({c.argument.sql('spark') if c.argument else '*'})"
            for c in self.calls
        )
        return f"[{keys}] {calls}" if self.grouped else f"(all) {calls}"


def argument_name(number: int) -> str:
    return f"a{number}"
