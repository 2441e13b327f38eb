"""Statements around queries, in Spark SQL on Delta."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from ivm.dialect import to_sql
from ivm.render.binding import Binding, fill
from ivm.sql import text


def statement(tree: exp.Expr, binding: Binding) -> str:
    return to_sql(fill(tree, binding), pretty=True)


def stage_table(name: str, query: exp.Query, binding: Binding) -> str:
    """Computed once, kept by the session, gone with it: nothing is left behind by a crash."""
    return f"CACHE TABLE {to_sql(exp.to_identifier(name, quoted=True))} AS\n" + statement(
        query, binding
    )


def drop_stage(name: str) -> str:
    return f"DROP VIEW IF EXISTS {to_sql(exp.to_identifier(name, quoted=True))}"


def build_storage(query: str, binding: Binding, properties: Mapping[str, str]) -> str:
    """One commit: the old storage stays readable until the new one is complete."""
    pairs = ", ".join(f"{to_sql(text(k))} = {to_sql(text(v))}" for k, v in properties.items())
    table = to_sql(binding.storage)
    return f"CREATE OR REPLACE TABLE {table} USING delta\nTBLPROPERTIES ({pairs})\nAS\n{query}"


def facade_view(
    view: exp.Table,
    query: exp.Query,
    binding: Binding,
    properties: Mapping[str, str],
    comment: str = "",
    comments: Mapping[str, str] | None = None,
) -> str:
    """`comments` are those of columns, by their names in lower case."""
    head = f"CREATE OR REPLACE VIEW {to_sql(view)}"
    if comments:
        columns = [exp.to_identifier(name, quoted=True) for name in query.named_selects]
        noted = (
            f"{to_sql(c)} COMMENT {to_sql(text(comments.get(c.name.lower(), '')))}" for c in columns
        )
        head += f" ({', '.join(noted)})"
    if comment:
        head += f" COMMENT {to_sql(text(comment))}"
    if properties:
        pairs = ", ".join(f"{to_sql(text(k))} = {to_sql(text(v))}" for k, v in properties.items())
        head += f" TBLPROPERTIES ({pairs})"
    return f"{head} AS\n" + statement(query, binding)
