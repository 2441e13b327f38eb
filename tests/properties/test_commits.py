"""Every form of commit refuses what must not be applied, and then changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from sqlglot import exp

from ivm import names
from ivm.apply import bitmap, measure
from ivm.apply.choice import Form
from ivm.apply.merge import Move, move_only
from tests.properties.case import Case, Table
from tests.properties.duckdb_engine import DuckDb
from tests.properties.engine import Maintained, Refused, catalog_of
from tests.properties.generate import cases
from tests.properties.test_maintenance import COMMON, maintained

ORDERS = Table(
    "t", (("id", "int"), ("k", "int"), ("x", "double")), ("id",), ((1, 1, 0.5), (2, 1, 3.0))
)
CHANGED = ((1, 1, 3.0), (3, 2, 0.5), (None, None, None))

FORMS: dict[str, tuple[str, Form]] = {
    "replaced_rows": ("select id, x from t", Form("replaced_rows")),
    "keyed_rows": ("select id, x from t", Form("keyed_rows")),
    "counted_rows": ("select id, x from t", Form("counted_rows")),
    "groups": ("select k, count(*) as n from t group by k", Form("groups")),
    "groups flagged": ("select k, sum(x) as n from t group by k", Form("groups", "flagged")),
    "groups all": ("select k, sum(x) as n from t group by k", Form("groups", "all")),
    "one group": ("select sum(id) as n from t", Form("groups")),
}

Commit = Callable[[DuckDb, Move], None]


def started(sql: str) -> tuple[DuckDb, Maintained]:
    engine = DuckDb()
    case = Case((ORDERS,), (sql,), ())
    engine.create(case)
    view = Maintained(engine, 0, sql, catalog_of(case, engine))
    engine.write("t", CHANGED)
    return engine, view


def statement(view: Maintained, form: Form | None, move: Move) -> exp.Expression:
    prepared = view.prepare()
    assert prepared is not None
    if form is None:
        return move_only(move)
    if form.recompute:
        query = view.compiled.recompute(form)
        view.engine.stage(view.number, "recomputed", query, view.compiled)
    return view.compiled.commit(form, prepared[1], move)


def contents(engine: DuckDb) -> list[Any]:
    return sorted(map(str, engine.run("from storage_0").fetchall()))


@pytest.fixture(params=[bitmap.MAX_BITS, 64], ids=["wide bitmap", "full bitmap"])
def bits(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a full bitmap nearly every row passes."""
    monkeypatch.setattr(bitmap, "MAX_BITS", request.param)
    monkeypatch.setattr(bitmap, "MIN_BITS", min(bitmap.MIN_BITS, request.param))


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("name", FORMS)
def test_each_form_brings_the_view_to_its_query(name: str) -> None:
    sql, form = FORMS[name]
    engine, view = started(sql)
    engine.commit(0, statement(view, form, Move("v0", "v1")))
    view.version = 1
    view.check(name)


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("name", [*FORMS, "move_only"])
def test_a_stale_control_row_refuses_the_commit(name: str) -> None:
    sql, form = FORMS.get(name, ("select id, x from t", None))
    engine, view = started(sql)
    before = contents(engine)
    with pytest.raises(Refused, match=names.STALE):
        engine.commit(0, statement(view, form, Move("v7", "v8")))
    assert contents(engine) == before


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("name", FORMS)
def test_a_missing_control_row_refuses_the_commit(name: str) -> None:
    sql, form = FORMS[name]
    engine, view = started(sql)
    engine.run(f"delete from storage_0 where {names.CONTROL} is not null")
    before = contents(engine)
    with pytest.raises(Refused, match=names.NO_CONTROL_ROW):
        engine.commit(0, statement(view, form, Move("v0", "v1")))
    assert contents(engine) == before


@pytest.mark.usefixtures("bits")
@pytest.mark.parametrize("name", FORMS)
def test_a_control_row_outside_of_the_key_filter_is_never_inserted_again(name: str) -> None:
    """Its unit is NULL, which lies in no range and has no touched hash."""
    sql, form = FORMS[name]
    engine, view = started(sql)
    engine.write("t", CHANGED[:2])
    engine.commit(0, statement(view, form, Move("v0", "v1")))
    assert engine.controls(0) == ["v1"]


@pytest.mark.parametrize("name", ["replaced_rows", "keyed_rows"])
def test_a_commit_that_was_applied_is_refused_the_second_time(name: str) -> None:
    engine, view = started("select id, x from t")
    merge = statement(view, Form(name), Move("v0", "v1"))
    engine.commit(0, merge)
    before = contents(engine)
    with pytest.raises(Refused):
        engine.commit(0, merge)
    assert contents(engine) == before


@pytest.mark.parametrize("limit", [0, 2])
def test_more_keys_than_are_written_out(limit: int) -> None:
    @settings(max_examples=40, derandomize=True, **COMMON)
    @given(case=cases(rounds=2))
    def check(case: Case) -> None:
        maintained(case)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(measure, "MAX_KEYS", limit)
        patch.setattr(bitmap, "MAX_BITS", 64)
        patch.setattr(bitmap, "MIN_BITS", 64)
        check()
