"""Merged projections give the same rows and IDs, and never compute a value twice."""

from __future__ import annotations

from sqlglot import exp

from ivm.catalog import PrimaryKey, Table
from ivm.minimize import minimize
from ivm.operators import Project, Scan
from ivm.sql import column

TABLE = Table("d.t", ("id", "x"), PrimaryKey(("id",), "test"))
SCAN = Scan(TABLE, 1, (("id", "t_id"), ("x", "t_x")))


def doubled(name: str) -> exp.Expr:
    return exp.Mul(this=column(name), expression=exp.Literal.number(2))


def test_a_projection_of_a_projection_is_one() -> None:
    inner = Project(SCAN, (("a", column("t_id")), ("b", doubled("t_x"))))
    merged = minimize(Project(inner, (("c", column("a")), ("d", doubled("b")))))
    assert isinstance(merged, Project) and merged.input is SCAN
    assert merged.columns == ("c", "d") and merged.ids == ("c",)
    assert merged.outputs[1][1].sql("spark") == "(`t_x` * 2) * 2"


def test_what_is_used_twice_is_not_computed_twice() -> None:
    inner = Project(SCAN, (("a", column("t_id")), ("b", doubled("t_x"))))
    outer = Project(inner, (("c", column("a")), ("d", column("b")), ("e", doubled("b"))))
    assert minimize(outer) == outer
