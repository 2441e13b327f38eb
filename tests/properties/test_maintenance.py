"""Maintained = recomputed, for random views, data and changes."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from tests.properties.case import Case
from tests.properties.duckdb_engine import DuckDb
from tests.properties.engine import run
from tests.properties.generate import cases

COMMON = {
    "deadline": None,
    "database": None,
    "print_blob": False,
    "suppress_health_check": list(HealthCheck),
}


def maintained(case: Case) -> None:
    duckdb = DuckDb()
    try:
        run(case, duckdb)
    except BaseException as error:
        error.add_note(f"{case}\nreplay: python -m tests.properties.replay {case.word()}")
        raise
    finally:
        duckdb.close()


@settings(max_examples=250, derandomize=True, **COMMON)
@given(case=cases())
def test_a_maintained_view_is_its_query(case: Case) -> None:
    maintained(case)


@pytest.mark.full
@settings(max_examples=4000, **COMMON)
@given(case=cases(rounds=5))
def test_thousands_of_maintained_views_are_their_queries(case: Case) -> None:
    maintained(case)
