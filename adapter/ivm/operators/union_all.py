"""∪ of bags. A branch number and the IDs of every branch identify a row (idIVM Table 1)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sqlglot import exp

from ivm import names
from ivm.plan import Dependency, Operator, Signed, State, States, empty
from ivm.sql import alias, column, number, select, subquery, union_all


@dataclass(frozen=True)
class UnionAll(Operator):
    """`visible` are the output names, by position in every branch.

    `carried` maps a hidden output to the branch and the branch column that fills it; the other
    branches give NULL, because IDs of different branches may differ in number and type.
    """

    name = "union_all"
    branches: tuple[Operator, ...]
    visible: tuple[str, ...]
    branch_columns: tuple[tuple[str, ...], ...]
    branch: str
    carried: tuple[tuple[str, int, str], ...] = field(default=())

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return self.branches

    @property
    def columns(self) -> tuple[str, ...]:
        return (*self.visible, self.branch, *(output for output, _, _ in self.carried))

    @property
    def ids(self) -> tuple[str, ...]:
        found = [self.branch]
        for number_, branch in enumerate(self.branches):
            for i in branch.ids:
                found.append(self._output(number_, i))
        return tuple(dict.fromkeys(found))

    def _output(self, number_: int, source: str) -> str:
        shown = dict(
            zip(reversed(self.branch_columns[number_]), reversed(self.visible), strict=True)
        )
        if source in shown:
            return shown[source]
        return next(o for o, n, c in self.carried if n == number_ and c == source)

    def with_inputs(self, inputs: tuple[Operator, ...]) -> UnionAll:
        return replace(self, branches=inputs)

    def require(self, needed: frozenset[str]) -> UnionAll:
        positions = [i for i, v in enumerate(self.visible) if v in needed]
        shown = tuple(tuple(cols[i] for i in positions) for cols in self.branch_columns)
        branches = tuple(
            b.require(frozenset(cols)) for b, cols in zip(self.branches, shown, strict=True)
        )
        carried = tuple(
            (f"{self.branch}_{n}_{i}", n, i)
            for n, (b, cols) in enumerate(zip(branches, shown, strict=True))
            for i in b.ids
            if i not in cols
        )
        visible = tuple(self.visible[i] for i in positions)
        return replace(
            self, branches=branches, visible=visible, branch_columns=shown, carried=carried
        )

    def dependencies(self) -> tuple[Dependency, ...]:
        return ()

    def state(self, states: States, which: State) -> Signed:
        return self._united([b.state(states, which) for b in self.branches])

    def tuple_delta(self, states: States) -> Signed | None:
        deltas = [b.tuple_delta(states) for b in self.branches]
        if not any(deltas):
            return None
        rows = [
            d or empty(b.state(states, "post"), signed=True)
            for d, b in zip(deltas, self.branches, strict=True)
        ]
        return replace(self._united(rows), small=True)

    def _united(self, rows: list[Signed]) -> Signed:
        signed = any(r.signed for r in rows)
        queries: list[exp.Query] = []
        for number_, r in enumerate(rows):
            shown = zip(self.branch_columns[number_], self.visible, strict=True)
            outputs = [alias(column(c), v) for c, v in shown]
            outputs.append(alias(number(number_), self.branch))
            for output, of, source in self.carried:
                outputs.append(alias(column(source) if of == number_ else exp.null(), output))
            if signed:
                outputs.append(alias(r.weight, names.WEIGHT))
            queries.append(select(outputs, subquery(r.query, "input")))
        return Signed(union_all(queries), signed)

    def conditional(self) -> frozenset[str]:
        return frozenset()

    def detail(self) -> str:
        return ", ".join(self.visible)
