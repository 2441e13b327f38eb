"""SCAN(R): a tuple variable over a stored table."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ivm.catalog import Table
from ivm.plan import Dependency, Operator, Signed, State, States


@dataclass(frozen=True)
class Scan(Operator):
    """`outputs` maps the table's columns to names that are unique in the plan."""

    name = "scan"
    table: Table
    occurrence: int
    outputs: tuple[tuple[str, str], ...]

    @property
    def inputs(self) -> tuple[Operator, ...]:
        return ()

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(output for _, output in self.outputs)

    @property
    def key(self) -> tuple[str, ...]:
        """The declared key under its names in the plan; empty without one."""
        if self.table.primary_key is None:
            return ()
        wanted = [c.lower() for c in self.table.primary_key.columns]
        found = {base.lower(): output for base, output in self.outputs}
        return tuple(found[c] for c in wanted)

    @property
    def ids(self) -> tuple[str, ...]:
        """Without a key, a row is identified by all that the view sees of it."""
        return self.key or self.columns

    def with_inputs(self, inputs: tuple[Operator, ...]) -> Scan:
        return self

    def require(self, needed: frozenset[str]) -> Scan:
        keep = needed | set(self.key)
        outputs = tuple(pair for pair in self.outputs if pair[1] in keep)
        # A table of which nothing is read still counts its rows: one column carries them.
        return replace(self, outputs=outputs or self.outputs[:1])

    def dependencies(self) -> tuple[Dependency, ...]:
        return ((frozenset(self.key), frozenset(self.columns)),) if self.key else ()

    def state(self, states: States, which: State) -> Signed:
        return states.pre(self) if which == "pre" else states.post(self)

    def tuple_delta(self, states: States) -> Signed | None:
        return states.delta(self) if states.changed(self) else None

    def conditional(self) -> frozenset[str]:
        return frozenset()

    def detail(self) -> str:
        return f"{self.table.name} #{self.occurrence} ({', '.join(self.columns)})"
