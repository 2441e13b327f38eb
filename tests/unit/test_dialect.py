from __future__ import annotations

import pytest
from sqlglot import Dialect, exp, parse_one
from sqlglot.errors import ParseError

from ivm.dialect import SPARK, escape, parse, to_sql, unescape


def expression(sql: str) -> exp.Expr:
    return parse(f"select {sql}").selects[0]


# Each of these comes out of sqlglot's own Spark dialect as something else.
@pytest.mark.parametrize(
    ("sql", "printed"),
    [
        ("'it''s'", r"'it\'s'"),
        ("'a' 'b'", "'ab'"),
        ("+'1'", "POSITIVE('1')"),
        ("-1::string", "CAST(-1 AS STRING)"),
        ("-128Y", "-128Y"),
        ("1.50BD", "1.50BD"),
        ("date'2020-01-01'::string", "CAST(DATE '2020-01-01' AS STRING)"),
        ("interval 1 day - 2 hours", "INTERVAL 1 DAY -2 HOURS"),
        ("unix_timestamp()", "UNIX_TIMESTAMP()"),
        ("date_sub(a, 1)", "DATE_SUB(a, 1)"),
        ("to_timestamp(a, 'y-M-d')", "TO_TIMESTAMP(a, 'y-M-d')"),
        ("regexp_extract(a, '(x)')", "REGEXP_EXTRACT(a, '(x)')"),
        ("regexp_extract(a, '(x)', 1)", "REGEXP_EXTRACT(a, '(x)', 1)"),
        ("named_struct('x', a)", "NAMED_STRUCT('x', a)"),
        ("last(a, true)", "LAST(a, TRUE)"),
        ("element_at(m, 'k')", "ELEMENT_AT(m, 'k')"),
        ("current_datetime", "current_datetime"),
        ("list[0]", "list[0]"),
        ("cast(a as time)", "CAST(a AS TIME)"),
        ("cast(a as varchar(3))", "CAST(a AS VARCHAR(3))"),
        ("percentile_cont(0.5) within group (order by a)",)
        + ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a)",),
    ],
)
def test_prints_what_was_written(sql: str, printed: str) -> None:
    assert to_sql(expression(sql)) == printed


@pytest.mark.parametrize(
    ("sql", "kind", "left"),
    [
        ("a = b in (c)", exp.In, "a = b"),
        ("a = b < c", exp.LT, "a = b"),
        ("a | b & c", exp.BitwiseOr, "a"),
        ("a & b << c", exp.BitwiseAnd, "a"),
        ("a || b + c", exp.Add, "a || b"),
        ("a = b is null", exp.Is, "(a = b)"),
        ("a like b = c", exp.Like, "a"),
        ("not a = b", exp.Not, "a = b"),
        ("x || y collate utf8_lcase", exp.DPipe, "x"),
    ],
)
def test_operators_bind_as_in_spark(sql: str, kind: type[exp.Expr], left: str) -> None:
    tree = expression(sql)
    assert type(tree) is kind
    assert to_sql(tree.this) == left


@pytest.mark.parametrize(
    "sql",
    [
        "select a:b from t",
        "select count(all a) from t",
        "select a from t where a like some ('x')",
        "from t |> where a > 1",
        "select 4 >>> 1",
        "select :p",
        "select 1; select 2",
        "select a from",
        "select 'open",
        "",
        "show tables",
        "'${spark.app.name}'",
    ],
)
def test_refuses_rather_than_misprints(sql: str) -> None:
    with pytest.raises(ParseError):
        parse(sql)


def test_the_check_finds_a_lost_word(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ivm.dialect.to_sql", lambda tree: "SELECT a FROM t")
    with pytest.raises(ParseError, match="WHERE"):
        parse("select a from t where b > 1")


@pytest.mark.parametrize("value", ["", "it's", "a\\nb", "\\%", 'say "x"', "\n\r\t\0\x1a", "é😀"])
def test_escape_is_undone_by_unescape(value: str) -> None:
    assert unescape(f"'{escape(value)}'") == value
    assert expression(f"'{escape(value)}'").name == value


def test_strings_stay_in_pretty_text() -> None:
    tree = parse("select 'a\nb' as x, `c d` from t -- gone")
    assert to_sql(parse(to_sql(tree, pretty=True))) == to_sql(tree)
    assert "gone" not in to_sql(tree, pretty=True)


def test_built_trees_get_parentheses() -> None:
    a, b = exp.column("a"), exp.column("b")
    between = exp.Between(this=a, low=exp.Literal.number(1), high=b)
    assert to_sql(exp.EQ(this=between, expression=exp.true())) == "(a BETWEEN 1 AND b) = TRUE"
    either = exp.Or(this=a.copy(), expression=b.copy())
    assert to_sql(exp.And(this=either, expression=exp.Not(this=either.copy()))) == (
        "(a OR b) AND NOT (a OR b)"
    )
    assert to_sql(exp.Sub(this=a.copy(), expression=exp.Sub(this=a, expression=b))) == "a - (a - b)"
    assert to_sql(exp.TryCast(this=either, to=exp.DataType.build("int"))) == (
        "TRY_CAST(a OR b AS INT)"
    )


def test_to_sql_leaves_the_tree_alone() -> None:
    tree = exp.Mul(this=exp.Add(this=exp.column("a"), expression=exp.column("b")), expression=None)
    tree.set("expression", exp.Literal.number(2))
    before = tree.copy()
    assert to_sql(tree) == "(a + b) * 2"
    assert tree == before


def test_sqlglot_itself_is_unchanged() -> None:
    assert Dialect.get_or_raise("sparkivm").__class__ is SPARK
    assert parse_one("select date_sub(a, 1)", dialect="spark").find(exp.TsOrDsAdd)
