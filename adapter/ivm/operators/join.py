"""⋈: inner and cross joins of any number of inputs, equi or not, by plain counting legs.

One node for a whole join tree, because a leg starts at its delta and not where the user began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ivm import names
from ivm.operators.filter import equality_dependencies
from ivm.plan import Dependency, Operator, Signed, State, States
from ivm.sql import alias, column, columns_in, conjunction, subquery, union_all


@dataclass(frozen=True)
class Join(Operator):
    name = "join"
    operands: tuple[Operator, ...]
    conditions: tuple[exp.Expr, ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.operands

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(c for operand in self.operands for c in operand.columns)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(i for operand in self.operands for i in operand.ids)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Join:
        return replace(self, operands=inputs)

    def require(self, needed: frozenset[str]) -> Join:
        wanted = needed | self.conditional()
        operands = tuple(operand.require(wanted) for operand in self.operands)
        return replace(self, operands=operands)

    def dependencies(self) -> tuple[Dependency, ...]:
        below = (d for operand in self.operands for d in operand.dependencies())
        return (*below, *equality_dependencies(self.conditions))

    def state(self, states: States, which: State) -> Signed:
        return self._joined([o.state(states, which) for o in self.operands], start=0)

    def tuple_delta(self, states: States) -> Signed | None:
        """Leg i: operands before i in their pre-state, i's delta, those after in their post-state.

        Legs whose delta is empty are not emitted.
        """
        legs = []
        for i, operand in enumerate(self.operands):
            delta = operand.tuple_delta(states)
            if delta is None:
                continue
            before = [o.state(states, "pre") for o in self.operands[:i]]
            after = [o.state(states, "post") for o in self.operands[i + 1 :]]
            legs.append(self._joined([*before, delta, *after], start=i))
        if not legs:
            return None
        return Signed(union_all([leg.query for leg in legs]), signed=True, small=True)

    def _joined(self, rows: Sequence[Signed], start: int) -> Signed:
        order = self._order(start)
        remaining = list(self.conditions)
        aliases = [f"i{i}" for i in range(len(rows))]
        seen = set(self.operands[order[0]].columns)
        query = exp.Select().from_(subquery(rows[order[0]].query, aliases[order[0]]))
        for i in order[1:]:
            seen |= set(self.operands[i].columns)
            usable = [c for c in remaining if columns_in(c) <= seen]
            remaining = [c for c in remaining if c not in usable]
            right = subquery(rows[i].query, aliases[i])
            if usable:
                query = query.join(right, on=conjunction(usable), join_type="inner", copy=False)
            else:
                query = query.join(right, join_type="cross", copy=False)
        outputs: list[exp.Expr] = [column(c) for c in self.columns]
        weights = [column(names.WEIGHT, a) for a, r in zip(aliases, rows, strict=True) if r.signed]
        if weights:
            product: exp.Expr = weights[0]
            for weight in weights[1:]:
                product = exp.Mul(this=product, expression=weight)
            outputs.append(alias(product, names.WEIGHT))
        query = query.select(*outputs, copy=False)
        if remaining:
            query = query.where(conjunction(remaining), copy=False)
        small = [exp.to_identifier(aliases[i]) for i in order if rows[i].small]
        if small and len(rows) > 1:
            query.set(
                "hint", exp.Hint(expressions=[exp.Anonymous(this="BROADCAST", expressions=small)])
            )
        return Signed(query, bool(weights), any(r.small for r in rows))

    def _order(self, start: int) -> list[int]:
        """From the start, along join predicates; cross joins last."""
        order, rest = [start], [i for i in range(len(self.operands)) if i != start]
        while rest:
            seen = {c for i in order for c in self.operands[i].columns}
            connected = (i for i in rest if self._connected(seen, set(self.operands[i].columns)))
            following = next(connected, rest[0])
            order.append(following)
            rest.remove(following)
        return order

    def _connected(self, seen: set[str], new: set[str]) -> bool:
        return any(
            used & seen and used & new and used <= seen | new
            for used in map(columns_in, self.conditions)
        )

    def conditional(self) -> frozenset[str]:
        return frozenset().union(*(columns_in(c) for c in self.conditions))

    def detail(self) -> str:
        return " AND ".join(c.sql("spark") for c in self.conditions) or "(cross)"
