"""What the choice of form needs to know about a staged delta, in one bounded row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ivm import names, types
from ivm.apply.stage import DELTA
from ivm.sql import (
    alias,
    case,
    cast,
    column,
    hash_of,
    hole,
    is_null,
    number,
    select,
    subquery,
    text,
)
from ivm.storage import Storage

MAX_LITERALS = 25_000


@dataclass(frozen=True)
class Range:
    """Where the touched units lie in one column of the unit."""

    column: str
    low: str | None
    high: str | None
    nulls: bool


@dataclass(frozen=True)
class Measures:
    units: int
    deleted: int
    inserted: int
    most: int
    recompute: int
    ranges: tuple[Range, ...]
    hashes: tuple[int, ...] | None


def hashed_columns(storage: Storage) -> tuple[str, ...]:
    return tuple(c for c in storage.unit if types.is_hashable(storage.type_of(c)))


def measure(storage: Storage) -> exp.Query:
    """One row: counts, ranges, and the hashes of at most MAX_LITERALS units as text."""
    weight = column(names.WEIGHT)
    keys = [column(c) for c in storage.unit]
    if storage.kind == "groups":
        units = select([*keys, column(names.RECOMPUTE)], hole(names.STAGE, DELTA))
        counts = [
            ("deleted", number(0)),
            ("inserted", number(0)),
            ("most", number(0)),
            ("recompute", exp.Sum(this=column(names.RECOMPUTE))),
        ]
    else:
        gone = exp.Sum(this=case(_below(weight), exp.Neg(this=weight.copy()), number(0)))
        new = exp.Sum(this=case(_below(weight), number(0), weight))
        units = select(
            [*keys, alias(gone, names.DELETED), alias(new, names.INSERTED)],
            hole(names.STAGE, DELTA),
        ).group_by(*keys)
        counts = [
            ("deleted", exp.Sum(this=column(names.DELETED))),
            ("inserted", exp.Sum(this=column(names.INSERTED))),
            # Two rows that become one are as much a violated key as one that becomes two.
            (
                "most",
                exp.Max(this=exp.func("greatest", column(names.INSERTED), column(names.DELETED))),
            ),
            ("recompute", number(0)),
        ]
    outputs = [alias(exp.Count(this=exp.Star()), "units")]
    outputs += [alias(exp.func("coalesce", e, number(0)), n) for n, e in counts]
    for i, name in enumerate(_ranged(storage)):
        key = column(name)
        outputs.append(alias(cast(exp.Min(this=key), "string"), f"low_{i}"))
        outputs.append(alias(cast(exp.Max(this=key.copy()), "string"), f"high_{i}"))
        nulls = exp.Max(this=case(is_null(key), number(1), number(0)))
        outputs.append(alias(nulls, f"nulls_{i}"))
    outputs.append(alias(_hashes(storage, units), "hashes"))
    return select(outputs, subquery(units, "units"))


def _hashes(storage: Storage, units: exp.Query) -> exp.Expr:
    hashed = hashed_columns(storage)
    if not hashed:
        return exp.null()
    one = select(
        [alias(hash_of([column(c) for c in hashed]), names.HASH)], subquery(units, "units")
    )
    some = one.distinct().limit(MAX_LITERALS)
    listed = exp.ArrayAgg(this=cast(column(names.HASH), "string"))
    joined = exp.ArrayToString(this=listed, expression=text(","))
    return exp.Subquery(this=select([joined], subquery(some, "some")))


def _ranged(storage: Storage) -> tuple[str, ...]:
    return tuple(c for c in storage.unit if types.is_orderable(storage.type_of(c)))


def _below(weight: exp.Expr) -> exp.Expr:
    return exp.LT(this=weight.copy(), expression=number(0))


def read_measures(storage: Storage, row: Mapping[str, Any]) -> Measures:
    units = int(row["units"])
    hashes: tuple[int, ...] | None = None
    if hashed_columns(storage) and units <= MAX_LITERALS:
        hashes = tuple(sorted(int(h) for h in (row["hashes"] or "").split(",") if h))
    ranges = tuple(
        Range(name, row[f"low_{i}"], row[f"high_{i}"], bool(row[f"nulls_{i}"] or 0))
        for i, name in enumerate(_ranged(storage))
    )
    counts = {n: int(row[n]) for n in ("deleted", "inserted", "most", "recompute")}
    return Measures(units=units, ranges=ranges, hashes=hashes, **counts)


def key_filter(storage: Storage, measures: Measures, table: str | None) -> exp.Expr | None:
    """Literal conditions that every touched row of storage satisfies.

    Ranges skip files; the hashes keep the rest of the table out of the join. A hash is exact here:
    it only restricts to rows that could match.
    """
    conditions: list[exp.Expr] = []
    for r in measures.ranges:
        key = column(r.column, table)
        if r.low is None or r.high is None:
            conditions.append(is_null(key))
            continue
        low, high = (_literal(v, storage.type_of(r.column)) for v in (r.low, r.high))
        inside = exp.and_(
            exp.GTE(this=key, expression=low), exp.LTE(this=key.copy(), expression=high)
        )
        conditions.append(exp.or_(inside, is_null(key)) if r.nulls else inside)
    if measures.hashes is not None:
        hashed = hash_of([column(c, table) for c in hashed_columns(storage)])
        conditions.append(exp.In(this=hashed, expressions=[number(h) for h in measures.hashes]))
    return exp.and_(*conditions) if conditions else None


def _literal(value: str, type_: str) -> exp.Expr:
    if type_ == "string":
        return text(value)
    if type_ == "date":
        # A cast would not be folded before Delta looks at file statistics; a typed literal is one.
        return exp.Var(this=f"DATE '{value}'")
    return number(int(value))
