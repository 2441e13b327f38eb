"""Keys of base tables from where dbt keeps them: `config.meta.ivm` and `constraints`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ivm.catalog import ForeignKey, PrimaryKey
from ivm.errors import IvmError

REFERENCE = re.compile(r"""(ref|source)\(\s*(.*?)\s*\)""")
QUOTED = re.compile(r"""['"]([^'"]+)['"]""")


class Keys:
    """Looks up the node behind a relation and reads its keys. `manifest` may be None."""

    def __init__(self, manifest: Any) -> None:
        self.nodes: dict[str, Any] = {}
        for group in ("nodes", "sources"):
            for node in (getattr(manifest, group, None) or {}).values():
                name = getattr(node, "relation_name", None)
                if name and getattr(node, "resource_type", "") != "test":
                    self.nodes[canonical(name)] = node

    def primary_key(self, table: str, columns: tuple[str, ...]) -> PrimaryKey | None:
        node = self.nodes.get(table)
        if node is None:
            return None
        found = list(_primary_keys(node))
        for key in found:
            _must_exist(table, key.columns, columns, key.origin)
        if len({tuple(sorted(c.lower() for c in k.columns)) for k in found}) > 1:
            both = "; ".join(f"({', '.join(k.columns)}) from {k.origin}" for k in found)
            raise IvmError(
                f"table {table} has two different primary keys", detail=both, hint="keep one"
            )
        return found[0] if found else None

    def foreign_keys(self, table: str, columns: tuple[str, ...]) -> tuple[ForeignKey, ...]:
        node = self.nodes.get(table)
        if node is None:
            return ()
        found = tuple(self._foreign_keys(node))
        for key in found:
            _must_exist(table, key.columns, columns, key.origin)
        return tuple(dict.fromkeys(found))

    def _foreign_keys(self, node: Any) -> Iterable[ForeignKey]:
        for entry in _meta(node).get("foreign_keys") or ():
            yield ForeignKey(
                _names(entry.get("columns")),
                self._target(entry.get("to", "")),
                _names(entry.get("to_columns")),
                "meta.ivm",
            )
        for constraint, own in _constraints(node):
            to = getattr(constraint, "to", None)
            if _kind(constraint) == "foreign_key" and to:
                yield ForeignKey(
                    _names(getattr(constraint, "columns", None)) or own,
                    self._target(to),
                    _names(getattr(constraint, "to_columns", None)),
                    "constraints",
                )

    def _target(self, to: str) -> str:
        """`ref('x')`, `source('a', 'x')` or a relation, as a canonical name."""
        match = REFERENCE.search(to)
        if not match:
            return canonical(to)
        wanted = QUOTED.findall(match[2])[-1]
        for name, node in self.nodes.items():
            if getattr(node, "name", None) == wanted:
                return name
        return canonical(wanted)


def canonical(relation: str) -> str:
    """
    >>> canonical("`spark_catalog`.`Raw`.`Orders`")
    'raw.orders'
    """
    parts = [p.strip("`") for p in relation.split(".")]
    return ".".join(parts[-2:]).lower()


def _primary_keys(node: Any) -> Iterable[PrimaryKey]:
    declared = _names(_meta(node).get("primary_key"))
    if declared:
        yield PrimaryKey(declared, "meta.ivm")
    for constraint, own in _constraints(node):
        if _kind(constraint) == "primary_key":
            columns = _names(getattr(constraint, "columns", None)) or own
            if columns:
                yield PrimaryKey(columns, "constraints")


def _constraints(node: Any) -> Iterable[tuple[Any, tuple[str, ...]]]:
    for constraint in getattr(node, "constraints", None) or ():
        yield constraint, ()
    columns: Mapping[str, Any] = getattr(node, "columns", None) or {}
    for column in columns.values():
        for constraint in getattr(column, "constraints", None) or ():
            yield constraint, (column.name,)


def _kind(constraint: Any) -> str:
    return str(getattr(constraint.type, "value", constraint.type))


def _meta(node: Any) -> Mapping[str, Any]:
    config = getattr(getattr(node, "config", None), "meta", None) or {}
    merged = {**(getattr(node, "meta", None) or {}), **config}
    ivm = merged.get("ivm") or {}
    if not isinstance(ivm, Mapping):
        raise IvmError(f"{node.name}: meta.ivm is not a mapping", detail=repr(ivm))
    return ivm


def _names(value: Any) -> tuple[str, ...]:
    if not value:
        return ()
    return (value,) if isinstance(value, str) else tuple(str(v) for v in value)


def _must_exist(table: str, key: tuple[str, ...], columns: tuple[str, ...], origin: str) -> None:
    known = {c.lower() for c in columns}
    missing = [c for c in key if c.lower() not in known]
    if missing:
        raise IvmError(
            f"a key of {table} names columns that it does not have: {', '.join(missing)}",
            detail=f"declared in {origin}; its columns are {', '.join(columns)}",
        )
