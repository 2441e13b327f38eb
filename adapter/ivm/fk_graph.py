"""The FK-graph of a view: nodes are tuple variables, edges are joins along declared foreign keys.

An edge exists only where all columns of a declared foreign key are equated, by `=`, with all
columns of the referenced key (semantics section 3). Plain counting legs do not use it yet; it is
shown by `ivm_explain`.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ivm.operators import Join, Scan
from ivm.plan import Operator


@dataclass(frozen=True)
class Edge:
    """`parent` refers to `child` by a declared foreign key."""

    parent: int
    child: int
    columns: tuple[str, ...]
    to_columns: tuple[str, ...]
    origin: str


@dataclass(frozen=True)
class FkGraph:
    nodes: tuple[Scan, ...]
    edges: tuple[Edge, ...]


def fk_graph(plan: Operator) -> FkGraph:
    scans = tuple(op for op in plan.walk() if isinstance(op, Scan))
    equated = _equated(plan)
    edges = [
        edge
        for parent in scans
        for child in scans
        if parent is not child
        for edge in _edges(parent, child, equated)
    ]
    return FkGraph(scans, tuple(edges))


def _edges(parent: Scan, child: Scan, equated: set[frozenset[str]]) -> list[Edge]:
    found = []
    own = {base.lower(): output for base, output in parent.outputs}
    other = {base.lower(): output for base, output in child.outputs}
    for key in parent.table.foreign_keys:
        if key.to != child.table.name:
            continue
        pairs = [
            (own.get(a.lower()), other.get(b.lower()))
            for a, b in zip(key.columns, key.to_columns, strict=True)
        ]
        if all(a and b and frozenset({a, b}) in equated for a, b in pairs):
            found.append(
                Edge(parent.occurrence, child.occurrence, key.columns, key.to_columns, key.origin)
            )
    return found


def _equated(plan: Operator) -> set[frozenset[str]]:
    return {
        frozenset({c.left.name, c.right.name})
        for op in plan.walk()
        if isinstance(op, Join)
        for c in op.conditions
        if isinstance(c, exp.EQ)
        and isinstance(c.left, exp.Column)
        and isinstance(c.right, exp.Column)
    }
