"""Pass 1 (idIVM section 4): every operator carries the columns that identify its rows.

Columns that nobody needs are dropped on the way, so a change of them is no change of the view.
"""

from __future__ import annotations

from collections.abc import Iterable

from ivm.operators import Scan
from ivm.plan import Dependency, Operator


def infer_ids(plan: Operator, visible: Iterable[str]) -> Operator:
    """The plan that keeps `visible`, what it is computed from, and the IDs; nothing else."""
    return plan.require(frozenset(visible))


def has_keys(plan: Operator) -> bool:
    """Whether every stored table below has a declared key."""
    return all(op.key for op in plan.walk() if isinstance(op, Scan))


def unit(plan: Operator) -> tuple[str, ...]:
    """A smallest set of IDs that determines the others, by declared keys and equalities.

    A view row is found by it. Were a key violated, several rows would share a unit; nothing rests
    on that being impossible (`ivm.apply`).
    """
    remaining = list(dict.fromkeys(plan.ids))
    dependencies = plan.dependencies()
    for candidate in reversed(list(remaining)):
        others = [i for i in remaining if i != candidate]
        # A row that a constant identifies is still found by something.
        if others and candidate in closure(others, dependencies):
            remaining = others
    return tuple(remaining)


def closure(columns: Iterable[str], dependencies: Iterable[Dependency]) -> frozenset[str]:
    """
    >>> sorted(closure(["a"], [(frozenset("a"), frozenset("b")), (frozenset("b"), frozenset("c"))]))
    ['a', 'b', 'c']
    """
    known = set(columns)
    rules = list(dependencies)
    while True:
        new = [right for left, right in rules if left <= known and not right <= known]
        if not new:
            return frozenset(known)
        known.update(*new)
