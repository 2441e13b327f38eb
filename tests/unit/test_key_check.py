"""Duplicates of a declared key are found, and a key without duplicates is not suspected."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from ivm.dialect import to_sql
from ivm.key_check import duplicates, suspicion
from tests.properties.duckdb_engine import DuckDb, to_duckdb

KEYS = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(-130, 130), st.sampled_from([-(2**63), 2**63 - 1])),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=12,
)


@pytest.fixture(scope="module")
def engine() -> DuckDb:
    return DuckDb()


def found(engine: DuckDb, query: exp.Expression | None) -> list[tuple[object, ...]]:
    assert query is not None
    return engine.run(to_duckdb(query)).fetchall()


def filled(engine: DuckDb, rows: list[tuple[int | None, str | None]]) -> exp.Table:
    engine.run("create or replace table k (n bigint, s varchar)")
    if rows:
        engine.connection.executemany("insert into k values (?, ?)", rows)
    return exp.table_("k")


@settings(deadline=None)
@given(rows=KEYS)
def test_one_column(engine: DuckDb, rows: list[tuple[int | None, str | None]]) -> None:
    table = filled(engine, rows)
    twice = {n for n, count in Counter(n for n, _ in rows).items() if count > 1}
    assert bool(found(engine, suspicion(table, ["n"], ["bigint"]))) == bool(twice)
    assert {n for n, _ in found(engine, duplicates(table, ["n"]))} <= twice
    assert bool(found(engine, duplicates(table, ["n"]))) == bool(twice)


@settings(deadline=None)
@given(rows=KEYS)
def test_several_columns(engine: DuckDb, rows: list[tuple[int | None, str | None]]) -> None:
    table = filled(engine, rows)
    twice = max(Counter(rows).values(), default=0) > 1
    assert bool(found(engine, suspicion(table, ["n", "s"], ["bigint", "string"]))) == twice


def test_a_key_without_integers_is_looked_at_whole() -> None:
    assert suspicion(exp.table_("k"), ["s", "d"], ["string", "date"]) is None
    assert "LIMIT 3" in to_sql(duplicates(exp.table_("k"), ["s"]))
