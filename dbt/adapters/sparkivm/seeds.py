"""The rows of a seed as text that reaches Spark unchanged."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

# Characters of JSON in one statement; a larger seed takes several.
BATCH_CHARACTERS = 8_000_000


def as_text(value: Any) -> str | None:
    """A value as Spark's CAST reads it.

    >>> as_text(Decimal("9007199254740993")), as_text(Decimal("1E+3")), as_text(True), as_text(None)
    ('9007199254740993', '1000', 'true', None)
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, datetime.date):
        return value.isoformat()
    return str(value)


def row_json(row: Iterable[Any]) -> str:
    """One row, with fields named by position because column names may hold anything.

    `'` and `$` are written as escapes of JSON: the first would end the SQL literal, the second
    begins what Spark replaces in SQL text (`${name}`).
    """
    fields = {f"c{i}": as_text(value) for i, value in enumerate(row) if value is not None}
    text = json.dumps(fields, ensure_ascii=False)
    return text.replace("'", "\\u0027").replace("$", "\\u0024")


def json_literals(rows: Iterable[Iterable[Any]], limit: int = BATCH_CHARACTERS) -> Iterator[str]:
    """SQL string literals that hold the rows, as few as `limit` allows.

    >>> list(json_literals([[1, "O'Brien"], [2, None]]))
    ['\\'[{"c0": "1", "c1": "O\\\\\\\\u0027Brien"},{"c0": "2"}]\\'']
    """
    batch: list[str] = []
    size = 0
    for row in rows:
        text = row_json(row)
        if batch and size + len(text) > limit:
            yield _literal(batch)
            batch, size = [], 0
        batch.append(text)
        size += len(text)
    if batch:
        yield _literal(batch)


def _literal(batch: list[str]) -> str:
    array = ",".join(batch).replace("\\", "\\\\")
    return f"'[{array}]'"
