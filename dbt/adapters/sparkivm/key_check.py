"""Declared keys that the data violates: found at a build, and when a commit met one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dbt.adapters.sparkivm.catalog import table_of
from dbt.adapters.sparkivm.changes import Pin
from dbt.adapters.sparkivm.executor import Executor

from ivm.catalog import Table
from ivm.dialect import to_sql
from ivm.key_check import duplicates, suspicion
from ivm.render.delta_lake import version_of


def violations(
    executor: Executor,
    tables: Iterable[Table],
    types: Mapping[str, Mapping[str, str]],
    pins: Mapping[str, Pin],
) -> list[str]:
    """One line for every violated key, with examples. The view is exact with them too."""
    found = []
    for table in tables:
        if table.primary_key is None:
            continue
        key, purpose = table.primary_key.columns, f"check the key of {table.name}"
        pinned = version_of(table_of(table.name), pins[table.name].version)
        doubt = suspicion(pinned, key, [types[table.name][c.lower()] for c in key])
        if doubt is not None and not executor.read(purpose, to_sql(doubt, pretty=True)):
            continue
        rows = executor.read(purpose, to_sql(duplicates(pinned, key), pretty=True))
        if rows:
            examples = "; ".join(", ".join(f"{k}={v}" for k, v in row.items()) for row in rows)
            found.append(
                f"key ({', '.join(key)}) of {table.name}, declared in "
                f"{table.primary_key.origin}, is violated: {examples}"
            )
    return found
