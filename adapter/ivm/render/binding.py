"""What the holes of a plan stand for in one refresh."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from ivm import names
from ivm.sql import subquery


class Source(Protocol):
    """A base table in one refresh: how its pinned state and its changes are read."""

    def post(self) -> exp.Table: ...

    def changes(self) -> exp.Query: ...


@dataclass(frozen=True)
class Binding:
    """Real names. `staged` maps a stage, or `changes of a table`, to the table that holds it."""

    storage: exp.Table
    sources: Mapping[str, Source] = field(default_factory=dict)
    staged: Mapping[str, str] = field(default_factory=dict)


def fill(tree: exp.Expr, binding: Binding) -> exp.Expr:
    """Replace every hole; a hole without a filling is an error, never a table of that name."""

    def replace(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Table):
            return node
        new: exp.Expr
        if not node.db and node.name == names.STORAGE:
            new = binding.storage.copy()
        elif node.db == names.STAGE:
            new = exp.table_(binding.staged[node.name], quoted=True)
        elif node.db == names.POST:
            new = binding.sources[node.name].post()
        elif node.db == names.CHANGES:
            staged = binding.staged.get(changes_of(node.name))
            if staged is None:
                return subquery(binding.sources[node.name].changes(), node.alias or "changes")
            new = exp.table_(staged, quoted=True)
        else:
            return node
        if node.args.get("alias"):
            new.set("alias", node.args["alias"].copy())
        return new

    return tree.transform(replace)


def changes_of(table: str) -> str:
    return f"changes of {table}"
