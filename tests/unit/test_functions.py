from __future__ import annotations

import pytest
from sqlglot import exp

from ivm import functions
from ivm.dialect import parse


def calls(sql: str) -> dict[str, str | None]:
    tree = parse(f"select {sql} from t")
    named = ((functions.call_name(node), functions.kind(node)) for node in tree.walk())
    return {name: kind for name, kind in named if name}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("sum(a) + upper(b)", {"sum": "aggregate", "upper": "scalar"}),
        ("count(*), count(distinct a, b)", {"count": "aggregate"}),
        ("count_if(a > 1) filter (where b)", {"count_if": "aggregate"}),
        ("percentile_cont(0.5) within group (order by a)", {"percentile_cont": "aggregate"}),
        ("listagg(distinct a, ',') within group (order by a)", {"listagg": "aggregate"}),
        ("max_by(a, b), any_value(c), bool_and(d)",)
        + ({"max_by": "aggregate", "any_value": "aggregate", "bool_and": "aggregate"},),
        ("first(a ignore nulls), every(b)", {"first": "aggregate", "every": "aggregate"}),
        ("any(a), some(b)", {"any": "aggregate", "some": "aggregate"}),
        ("transform(a, x -> abs(x))", {"transform": "scalar", "abs": "scalar"}),
        ("exists(a, x -> x > 1)", {"exists": "scalar"}),
        ("row_number() over (order by a)", {"row_number": "window"}),
        ("sum(a) over (order by b)", {"sum": "aggregate"}),
        ("explode(a)", {"explode": "generator"}),
        ("current_date, current_timestamp()",)
        + ({"current_date": "volatile", "current_timestamp": "volatile"},),
        ("uuid(), uniform(1, 2)", {"uuid": "volatile", "uniform": "volatile"}),
        ("unix_timestamp()", {"unix_timestamp": "volatile"}),
        ("unix_timestamp(a)", {"unix_timestamp": "scalar"}),
        ("my_function(a), `Upper`(b)", {"my_function": "unknown", "upper": "scalar"}),
        ("my_schema.upper(a)", {"my_schema.upper": "unknown"}),
        ("cast(a as int), try_cast(b as int)", {"cast": "scalar", "try_cast": "scalar"}),
        ("extract(day from a), trim(both 'x' from b)", {"extract": "scalar", "trim": "scalar"}),
        ("coalesce(a, b), if(a, b, c)", {"coalesce": "scalar", "if": "scalar"}),
        ("case when a then b end, a and not b or c in (1), a like b, a rlike b, -a || b", {}),
        ("a is null, a between b and c, exists (select 1), a in (select 2), interval 1 day", {}),
    ],
)
def test_every_call_is_classified(sql: str, expected: dict[str, str]) -> None:
    assert calls(sql) == expected


def test_aggregates_are_aggregates_for_sqlglot_too() -> None:
    for name in functions.AGGREGATE - {"grouping", "grouping_id"}:
        assert parse(f"select {name}(a) from t").find(exp.AggFunc), name


def test_the_sets_are_disjoint() -> None:
    kinds = (
        functions.AGGREGATE,
        functions.WINDOW,
        functions.GENERATOR,
        functions.VOLATILE,
        functions.SCALAR,
        functions.TABLE,
    )
    assert sum(map(len, kinds)) == len(frozenset().union(*kinds))
    assert frozenset(functions.UNPRINTABLE) <= functions.BUILTIN


@pytest.mark.parametrize("name", sorted(functions.BUILTIN))
def test_every_name_can_be_called(name: str) -> None:
    if not name.isidentifier() or name in functions.UNPRINTABLE:
        return
    syntax = {"cast", "try_cast", "between", "in", "not", "extract", "if"}
    if name not in syntax:
        assert name in calls(f"{name}(a)")
