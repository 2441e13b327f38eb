"""A maintenance case: tables, views and rounds of changes, as plain data that can be printed.

A failing case prints itself as one word; `python -m tests.properties.replay <word>` runs it again.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from dataclasses import asdict, dataclass
from typing import Any

from ivm.catalog import PrimaryKey
from ivm.catalog import Table as CatalogTable

NAMESPACE = "d"

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Table:
    """`key` is only declared: the rows may violate it. Dates and decimals are kept as text."""

    name: str
    columns: tuple[tuple[str, str], ...]
    key: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def full_name(self) -> str:
        return f"{NAMESPACE}.{self.name}"

    def for_catalog(self) -> CatalogTable:
        key = PrimaryKey(self.key, "test") if self.key else None
        return CatalogTable(self.full_name, tuple(n for n, _ in self.columns), key)


@dataclass(frozen=True)
class Case:
    """Each round gives the new contents of the tables that were written."""

    tables: tuple[Table, ...]
    views: tuple[str, ...]
    rounds: tuple[dict[str, tuple[Row, ...]], ...]

    def table(self, name: str) -> Table:
        return next(t for t in self.tables if t.name == name)

    def word(self) -> str:
        text = json.dumps(asdict(self), separators=(",", ":"))
        return base64.urlsafe_b64encode(zlib.compress(text.encode(), 9)).decode()

    @classmethod
    def from_word(cls, word: str) -> Case:
        return cls.from_json(zlib.decompress(base64.urlsafe_b64decode(word)).decode())

    @classmethod
    def from_json(cls, text: str) -> Case:
        data = json.loads(text)
        tables = tuple(
            Table(
                t["name"],
                tuple((n, k) for n, k in t["columns"]),
                tuple(t["key"]),
                tuple(tuple(r) for r in t["rows"]),
            )
            for t in data["tables"]
        )
        rounds = tuple(
            {name: tuple(tuple(r) for r in rows) for name, rows in changes.items()}
            for changes in data["rounds"]
        )
        return cls(tables, tuple(data["views"]), rounds)

    def __str__(self) -> str:
        lines = []
        for t in self.tables:
            columns = ", ".join(f"{n} {k}" for n, k in t.columns)
            lines.append(f"{t.full_name} ({columns}) key ({', '.join(t.key)})")
            lines += [f"    {r}" for r in t.rows]
        lines += [f"view: {v}" for v in self.views]
        for i, changes in enumerate(self.rounds, 1):
            lines.append(f"round {i}:")
            for name, rows in changes.items():
                lines.append(f"  {name} := {list(rows)}")
        return "\n".join(lines)


def literal(value: Any, type_: str) -> str:
    """A value in Spark and in DuckDB."""
    if value is None:
        return f"CAST(NULL AS {type_})"
    if type_ in ("string", "date") or type_.startswith("decimal"):
        text = value.replace("'", "''")
        return f"CAST('{text}' AS {type_})"
    if isinstance(value, float) and not math.isfinite(value):
        return f"CAST('{value}' AS {type_})"
    return f"CAST({value!r} AS {type_})"
