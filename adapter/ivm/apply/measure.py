"""What the choice of form needs to know about a staged delta, in one bounded row."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from ivm import names, types
from ivm.apply import bitmap
from ivm.apply.bitmap import Bitmap
from ivm.apply.stage import DELTA
from ivm.sql import (
    alias,
    case,
    cast,
    column,
    hole,
    is_not_null,
    is_null,
    number,
    select,
    subquery,
    text,
)
from ivm.storage import Storage

# Keys that are written out, and their characters; the bitmap takes over beyond.
MAX_KEYS = 25_000
MAX_TEXT = 1_000_000
# Delta prints the condition of a REPLACE WHERE and reads it again: ${name} would be replaced. Keys
# that might not come through as they are, are left to MERGE, like days that older calendars skip.
_PLAIN = re.compile(r"(?!1582-10)[^\\'\"$`\x00-\x1f\x7f]*")
# In so many parts, each with its range: files between two are skipped, and Delta looks through one
# part only for each new row. With many, Java no longer compiles the filter of the scan.
PARTS = 4

LISTED = ("int", "bigint", "date", "string")
COUNTS = ("deleted", "inserted", "updated", "most", "recompute")


@dataclass(frozen=True)
class Range:
    """Where the touched units lie in one column of the unit."""

    column: str
    low: str | None
    high: str | None
    nulls: bool


@dataclass(frozen=True)
class Measures:
    """`updated`: units that lose rows and gain rows. `keys`: the values of a unit of one column,
    in order and without NULL; None if they are too many, too long or not plain."""

    units: int
    deleted: int
    inserted: int
    updated: int
    most: int
    recompute: int
    ranges: tuple[Range, ...]
    keys: tuple[str, ...] | None
    bitmap: Bitmap | None


def hashed_columns(storage: Storage) -> tuple[str, ...]:
    return tuple(c for c in storage.unit if types.is_hashable(storage.type_of(c)))


def measure(storage: Storage) -> exp.Query:
    """One bounded row: counts, ranges, at most MAX_KEYS keys, and the bitmap."""
    weight = column(names.WEIGHT)
    keys = [column(c) for c in storage.unit]
    if storage.kind == "groups":
        units = select([*keys, column(names.RECOMPUTE)], hole(names.STAGE, DELTA))
        counts = [
            ("deleted", number(0)),
            ("inserted", number(0)),
            ("updated", number(0)),
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
            (
                "updated",
                exp.Sum(
                    this=exp.func("least", column(names.INSERTED), column(names.DELETED))
                ),
            ),
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
    outputs.append(alias(_keys(storage, units), "keys"))
    hashed = hashed_columns(storage)
    outputs.append(alias(bitmap.collect(units, hashed) if hashed else exp.null(), "bits"))
    return select(outputs, subquery(units, "units"))


def _listed(storage: Storage) -> bool:
    """Is a touched unit one literal, compared without a cast?"""
    return len(storage.unit) == 1 and storage.type_of(storage.unit[0]) in LISTED


def _keys(storage: Storage, units: exp.Query) -> exp.Expr:
    if not _listed(storage):
        return exp.null()
    key = column(storage.unit[0])
    some = select([key], subquery(units, "units"), is_not_null(key)).limit(MAX_KEYS)
    listed = exp.ArrayAgg(this=cast(key, "string"))
    encoded = exp.func(
        "coalesce", exp.Anonymous(this="to_json", expressions=[listed]), text("[]")
    )
    size = exp.func("coalesce", exp.Sum(this=exp.Length(this=cast(key, "string"))), number(0))
    short = exp.LTE(this=size, expression=number(MAX_TEXT))
    bounded = case(short, encoded, exp.null())
    return exp.Subquery(this=select([bounded], subquery(some, "some")))


def _ranged(storage: Storage) -> tuple[str, ...]:
    return tuple(c for c in storage.unit if types.is_orderable(storage.type_of(c)))


def _below(weight: exp.Expr) -> exp.Expr:
    return exp.LT(this=weight.copy(), expression=number(0))


def read_measures(storage: Storage, row: Mapping[str, Any]) -> Measures:
    units = int(row["units"])
    keys: tuple[str, ...] | None = None
    found: list[str] = json.loads(row["keys"] or "[]")
    listed = row["keys"] is not None and units <= MAX_KEYS
    if listed and all(map(_PLAIN.fullmatch, found)):
        numeric = storage.type_of(storage.unit[0]) not in ("string", "date")
        keys = tuple(sorted(found, key=int) if numeric else sorted(found))
    bits = bitmap.read(row["bits"] or "", units) if hashed_columns(storage) else None
    ranges = tuple(
        Range(name, row[f"low_{i}"], row[f"high_{i}"], bool(row[f"nulls_{i}"] or 0))
        for i, name in enumerate(_ranged(storage))
    )
    counts = {n: int(row[n]) for n in COUNTS}
    return Measures(units=units, ranges=ranges, keys=keys, bitmap=bits, **counts)


def key_filter(storage: Storage, measures: Measures, table: str | None) -> exp.Expr | None:
    """Literal conditions that every touched row of storage satisfies, and few others.

    Ranges skip files; the bitmap keeps nearly all of the other rows out of the join.
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
    if measures.bitmap is not None:
        hashed = [column(c, table) for c in hashed_columns(storage)]
        conditions.append(measures.bitmap.contains(hashed))
    return exp.and_(*conditions) if conditions else None


def touched(storage: Storage, measures: Measures) -> exp.Expr:
    """The touched units and no others, for a unit whose keys were listed; without functions."""
    assert measures.keys is not None
    key, type_ = column(storage.unit[0]), storage.type_of(storage.unit[0])
    size = max(1, -(-len(measures.keys) // PARTS))
    conditions: list[exp.Expr] = []
    for start in range(0, len(measures.keys), size):
        part = measures.keys[start : start + size]
        first, last = _literal(part[0], type_), _literal(part[-1], type_)
        conditions.append(
            exp.and_(
                exp.GTE(this=key.copy(), expression=first),
                exp.LTE(this=key.copy(), expression=last),
                exp.In(this=key.copy(), expressions=_literals(part, type_)),
            )
        )
    if any(r.nulls for r in measures.ranges):
        conditions.append(is_null(key))
    return exp.or_(*conditions)


def _literals(values: tuple[str, ...], type_: str) -> list[exp.Expr]:
    if type_ == "string":
        return [text(v) for v in values]
    # As one node: thousands of them take longer to print than to find.
    return [exp.Var(this=", ".join(_spelled(v, type_) for v in values))]


def _literal(value: str, type_: str) -> exp.Expr:
    return text(value) if type_ == "string" else exp.Var(this=_spelled(value, type_))


def _spelled(value: str, type_: str) -> str:
    # A cast would not be folded before Delta looks at file statistics; a typed literal is one.
    return f"DATE '{value}'" if type_ == "date" else str(int(value))


def example(storage: Storage) -> Measures:
    """One touched unit, for a statement that is only shown."""
    values = {"string": "a", "date": "2026-01-01"}
    keys = (values.get(storage.type_of(storage.unit[0]), "1"),) if _listed(storage) else None
    return Measures(1, 1, 1, 1, 1, 0, (), keys, None)
