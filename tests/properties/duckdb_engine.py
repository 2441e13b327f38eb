"""DuckDB runs the compiler's statements: change capture is a diff of two tables."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import duckdb
from sqlglot import exp

from ivm import names, types
from ivm.compiler import CompiledView
from ivm.dialect import parse
from ivm.render.binding import Binding, fill
from ivm.render.delta_lake import netted
from ivm.sql import alias, cast, column, number, select, subquery, union_all
from tests.properties.case import NAMESPACE, Case, Row, Table, literal
from tests.properties.engine import Refused

_TYPES = {
    "integer": "int",
    "hugeint": "bigint",
    "varchar": "string",
    "float": "float",
    '"null"': "int",
}
# A MERGE of DuckDB computes the values of every WHEN clause for every row, so there `raise_error`
# gives a value that is looked for before the transaction ends. random() prevents constant folding.
_MACROS = """
create macro xxhash64(x) as cast(cast(hash(x) as hugeint) - 9223372036854775808 as bigint);
create macro raise_error(x) as x;
create macro shiftright(x, n) as x >> n;
create macro shiftleft(x, n) as case when n = 63 then -9223372036854775808 else x << n end;
create macro getbit(x, n) as (x >> n) & 1;
create macro try_sum(x) as sum(x);
create macro fail(x) as error(concat(x, left(cast(random() as varchar), 0)));
"""


def to_duckdb(tree: exp.Expression) -> str:
    simple = tree.transform(_translate).transform(_without_lateral, copy=False)
    return simple.sql("duckdb", comments=False, copy=False)


@lru_cache(64)
def spark_to_duckdb(sql: str) -> str:
    return to_duckdb(parse(sql))


def _translate(node: exp.Expression) -> exp.Expression:
    if isinstance(node, exp.Join) and node.kind == "SEMI":
        node.set("side", None)
    elif isinstance(node, exp.Cast) and node.this.name == "raise_error":
        node.this.set("this", "fail")
    elif isinstance(node, exp.Anonymous) and node.name.lower() == "element_at":
        node.set("this", "list_extract")  # of that name DuckDB has one of maps
    elif isinstance(node, exp.Select):
        node.set("hint", None)  # DuckDB has none
    elif isinstance(node, exp.Count) and node.expressions:
        present = [a.is_(exp.null()).not_() for a in [node.this, *node.expressions]]
        return exp.Count(this=exp.Case().when(exp.and_(*present), exp.Literal.number(1)))
    elif isinstance(node, exp.Avg | exp.Filter):
        return _mean(node)
    return node


def _mean(node: exp.Expression) -> exp.Expression:
    """The mean of a decimal has Spark's type; the generator casts the argument, to show its own."""
    call, condition = (node.this, node.expression) if isinstance(node, exp.Filter) else (node, None)
    if not (isinstance(call, exp.Avg) and isinstance(call.this, exp.Cast)):
        return node
    decimal = types.decimal(call.this.to.sql("spark").lower())
    if decimal is None:
        return node
    parts: list[exp.Expression] = [exp.Sum(this=call.this), exp.Count(this=call.this.copy())]
    if condition is not None:
        parts = [exp.Filter(this=part, expression=condition.copy()) for part in parts]
    kind = f"decimal({decimal[0]},{decimal[1]})"
    quotient = types.mean(parts[0], exp.func("nullif", parts[1], number(0)), kind)
    return cast(quotient, types.mean_type(kind))


def _without_lateral(node: exp.Expression) -> exp.Expression:
    if not isinstance(node, exp.Select) or not node.args.get("laterals"):
        return node
    (lateral,) = node.args.pop("laterals")
    sequence = lateral.this.this
    times = sequence.args.get("end") or sequence.expressions[1]
    series = exp.Anonymous(this="generate_series", expressions=[number(1), cast(times, "bigint")])
    shown = [column(e.alias_or_name) for e in node.expressions]
    unnested = exp.Anonymous(this="unnest", expressions=[series])
    node.append("expressions", exp.alias_(unnested, names.COPY))
    return select(shown, subquery(node, "copied"))


@dataclass(frozen=True)
class Snapshots:
    """A table now, and as the view last saw it."""

    now: exp.Table
    before: exp.Table
    columns: tuple[str, ...]
    kinds: dict[str, str]

    def post(self) -> exp.Table:
        return self.now.copy()

    def changes(self) -> exp.Query:
        keys = [column(c) for c in self.columns]
        sides = ((self.now, 1), (self.before, -1))
        signed = [select([*keys, alias(number(w), names.WEIGHT)], t) for t, w in sides]
        return netted(union_all(signed), self.columns, self.kinds)


class DuckDb:
    def __init__(self) -> None:
        self.connection = duckdb.connect(config={"threads": 1})
        self.connection.execute(f"create schema {NAMESPACE}; create schema seen")
        self.connection.execute(f"set search_path = '{NAMESPACE}'")
        self.connection.execute(_MACROS)
        self.tables: dict[str, Table] = {}
        self.compiled: dict[int, CompiledView] = {}
        self.written: dict[int, set[str]] = {}
        self.statements: list[str] = []

    def close(self) -> None:
        self.connection.close()

    def run(self, sql: str) -> Any:
        self.statements.append(sql)
        try:
            return self.connection.execute(sql)
        except duckdb.Error as error:
            if "IVM_" in str(error):
                raise Refused(str(error)) from error
            raise AssertionError(f"{error}\n{sql}") from error

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        rows = self.run(f"describe {spark_to_duckdb(sql)}").fetchall()
        return tuple((row[0], spark_type(row[1])) for row in rows)

    def create(self, case: Case) -> None:
        for table in case.tables:
            columns = ", ".join(f"{n} {k}" for n, k in table.columns)
            self.run(f"create table {table.full_name} ({columns})")
            self.tables[table.full_name] = table
            self.write(table.name, table.rows)

    def write(self, name: str, rows: tuple[Row, ...]) -> None:
        table = self.tables[f"{NAMESPACE}.{name}"]
        self.run(f"delete from {table.full_name}")
        if rows:
            kinds = [k for _, k in table.columns]
            values = ", ".join(
                "(" + ", ".join(map(literal, row, kinds)) + ")" for row in rows
            )
            self.run(f"insert into {table.full_name} values {values}")
        for written in self.written.values():
            written.add(table.full_name)

    def sources(self, view: int) -> dict[str, Snapshots]:
        return {
            name: Snapshots(
                exp.table_(name.split(".")[1], db=NAMESPACE),
                exp.table_(f"{name.split('.')[1]}_{view}", db="seen"),
                columns,
                dict(self.tables[name].columns),
            )
            for name, columns in self.compiled[view].columns.items()
        }

    def binding(self, view: int) -> Binding:
        staged = {name: f"{name}_{view}" for name in ("delta", "recomputed")}
        return Binding(exp.table_(f"storage_{view}"), self.sources(view), staged)

    def build(self, view: int, compiled: CompiledView, control: str) -> None:
        self.compiled[view] = compiled
        binding = self.binding(view)
        # A CTAS would keep DuckDB's own types; Delta's are those of the compiler.
        kinds = [(names.CONTROL, "string"), *((c.name, c.type) for c in compiled.storage.columns)]
        columns = [
            exp.ColumnDef(this=exp.to_identifier(n, quoted=True), kind=exp.DataType.build(
                k, dialect="spark")).sql("duckdb")
            for n, k in kinds
        ]
        self.run(f"create or replace table storage_{view} ({', '.join(columns)})")
        self.run(
            f"insert into storage_{view} " + to_duckdb(fill(compiled.build(control), binding))
        )
        facade = to_duckdb(fill(compiled.facade(), binding))
        self.run(f"create or replace view facade_{view} as {facade}")
        self.pin(view)

    def stage(self, view: int, name: str, query: exp.Query, compiled: CompiledView) -> None:
        text = to_duckdb(fill(query, self.binding(view)))
        self.run(f"create or replace temp table {name}_{view} as {text}")

    def row(self, view: int, query: exp.Query) -> dict[str, Any]:
        result = self.run(to_duckdb(fill(query, self.binding(view))))
        shown = [c[0] for c in result.description]
        (row,) = result.fetchall()
        return dict(zip(shown, row, strict=True))

    def commit(self, view: int, statement: exp.Expression) -> None:
        self.run("begin")
        try:
            for step in _steps(fill(statement, self.binding(view))):
                self.run(to_duckdb(step) if isinstance(step, exp.Expression) else step)
            raised = [c for c in self.controls(view) if c.startswith("IVM_")]
            if raised:
                raise Refused(raised[0])
        except BaseException:
            self.run("rollback")
            raise
        self.run("commit")

    def facade(self, view: int) -> list[Row]:
        return self.run(f"from facade_{view}").fetchall()

    def query(self, sql: str) -> list[Row]:
        return self.run(spark_to_duckdb(sql)).fetchall()

    def controls(self, view: int) -> list[str]:
        rows = self.run(
            f"select {names.CONTROL} from storage_{view} where {names.CONTROL} is not null"
        )
        return [row[0] for row in rows.fetchall()]

    def changed(self, view: int) -> frozenset[str]:
        return frozenset(self.written[view] & set(self.compiled[view].columns))

    def pin(self, view: int) -> None:
        self.written[view] = set()
        for name in self.compiled[view].columns:
            short = name.split(".")[1]
            self.run(f"create or replace table seen.{short}_{view} as from {name}")


def _steps(statement: exp.Expression) -> list[exp.Expression | str]:
    """DuckDB has no REPLACE WHERE: the new rows are computed, the old ones deleted."""
    if not isinstance(statement, exp.Insert):
        return [statement]
    target, where = statement.this, statement.args["where"]
    rows = to_duckdb(statement.expression)
    return [
        f"create or replace temp table replacing as {rows}",
        exp.Delete(this=target, where=exp.Where(this=where)),
        f"insert into {to_duckdb(target)} from replacing",
    ]


def spark_type(type_: str) -> str:
    """
    >>> spark_type("DECIMAL(18,2)"), spark_type("VARCHAR"), spark_type("HUGEINT")
    ('decimal(18,2)', 'string', 'bigint')
    """
    lowered = type_.lower()
    return re.sub(r",\s+", ",", _TYPES.get(lowered, lowered))
