"""Base tables on Delta Lake: pinned states, and changes by feed or by a diff of two snapshots.

A statement never names a source without a version, and never two ranges of one feed: Spark's
relation cache ignores read options and would silently swap one for the other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from ivm import names, types
from ivm.dialect import to_sql
from ivm.sql import alias, case, cast, column, number, select, subquery, text, union_all

_ARRIVED = ("insert", "update_postimage")


def version_of(table: exp.Table, version: int) -> exp.Table:
    """
    >>> to_sql(version_of(exp.table_("t", db="d"), 5))
    'd.t VERSION AS OF 5'
    """
    pinned = table.copy()
    pinned.set("version", exp.Version(this="VERSION", kind="AS OF", expression=number(version)))
    return pinned


def netted(
    signed: exp.Query, columns: Sequence[str], kinds: Mapping[str, str] | None = None
) -> exp.Select:
    """Effective changes: net multiplicity per distinct row; what comes back unchanged vanishes.

    Distinct to the last bit, where `kinds` tell the types by column in lower case: GROUP BY takes
    0.0 for -0.0 and sorts the keys of a map, but an expression of the view may see the difference.
    """
    kinds = kinds or {}
    keys: list[exp.Expr] = []
    outputs: list[exp.Expr] = []
    for name in columns:
        value, kind = column(name), kinds.get(name.lower(), "")
        if types.is_coarse(kind):
            outputs.append(alias(exp.AnyValue(this=value), name))
            keys.append(cast(value, "string"))
            # As text alone, a map of strings could be read in two ways.
            keys.append(_encoded(value) if types.is_map(kind) else value)
        else:
            outputs.append(value)
            keys.append(value)
    total = exp.Sum(this=column(names.WEIGHT))
    return (
        select([*outputs, alias(total, names.WEIGHT)], subquery(signed, "signed"))
        .group_by(*keys)
        .having(exp.NEQ(this=total.copy(), expression=number(0)))
    )


def _encoded(value: exp.Expr) -> exp.Expr:
    """Grouped by the value itself, Spark would sort the map everywhere in the query."""
    row = exp.Anonymous(this="struct", expressions=[value.copy()])
    return exp.Anonymous(this="to_json", expressions=[row])


@dataclass(frozen=True)
class Unchanged:
    table: exp.Table
    version: int

    def post(self) -> exp.Table:
        return version_of(self.table, self.version)

    def changes(self) -> exp.Query:
        raise AssertionError(f"{to_sql(self.table)} did not change")


@dataclass(frozen=True)
class Feed(Unchanged):
    """Delta's change data feed from after `since` to `version`."""

    since: int
    columns: tuple[str, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def changes(self) -> exp.Query:
        feed = exp.Anonymous(
            this="table_changes",
            expressions=[text(to_sql(self.table)), number(self.since + 1), number(self.version)],
        )
        arrived = exp.In(this=column("_change_type"), expressions=[text(t) for t in _ARRIVED])
        weight = case(arrived, number(1), number(-1))
        outputs = [*(column(c) for c in self.columns), alias(weight, names.WEIGHT)]
        return netted(select(outputs, exp.Table(this=feed)), self.columns, self.kinds)


@dataclass(frozen=True)
class Diff(Unchanged):
    """Two snapshots: for tables without a feed, and for those replaced as a whole."""

    since: int
    columns: tuple[str, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    def changes(self) -> exp.Query:
        keys = [column(c) for c in self.columns]
        sides = [(self.version, 1), (self.since, -1)]
        return netted(
            union_all(
                [
                    select([*keys, alias(number(w), names.WEIGHT)], version_of(self.table, v))
                    for v, w in sides
                ]
            ),
            self.columns,
            self.kinds,
        )
