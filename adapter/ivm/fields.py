"""Fields that take their name from a column keep it: the columns of a plan are called otherwise."""

from __future__ import annotations

from sqlglot import exp

from ivm import names
from ivm.functions import call_name
from ivm.sql import text


def name_fields(tree: exp.Expr) -> None:
    """In place: `struct(a)` becomes `struct(a AS a)`, and `arrays_zip(a)` names what it zips.

    >>> from ivm.dialect import parse, to_sql
    >>> tree = parse("select struct(t.a, b + 1), (a, b) from t")
    >>> name_fields(tree)
    >>> to_sql(tree)
    'SELECT STRUCT(t.a AS `a`, b + 1), (a AS `a`, b AS `b`) FROM t'
    """
    for node in reversed(list(tree.walk())):
        row = isinstance(node, exp.Tuple) and not isinstance(node.parent, exp.In | exp.Tuple)
        if row or call_name(node) == "struct":
            node.set("expressions", [_aliased(e) for e in node.expressions])
        elif call_name(node) == "arrays_zip" and any(_own_name(e) for e in node.expressions):
            node.replace(_zipped(node))


def _own_name(node: exp.Expr) -> str:
    if isinstance(node, exp.Column | exp.Dot | exp.Identifier):
        last = node.this if isinstance(node, exp.Column) else node
        last = last.expression if isinstance(last, exp.Dot) else last
        return last.name if isinstance(last, exp.Identifier) else ""
    return ""


def _aliased(node: exp.Expr) -> exp.Expr:
    name = _own_name(node)
    return exp.alias_(node.copy(), name, quoted=True) if name else node


def _zipped(node: exp.Expr) -> exp.Expr:
    """Without names of its own every field has its number, by which it is found again."""
    variable = exp.to_identifier(names.PREFIX + "z")
    fields: list[exp.Expr] = []
    for i, e in enumerate(node.expressions):
        part = exp.Dot(this=variable.copy(), expression=exp.to_identifier(str(i), quoted=True))
        fields += [text(_own_name(e) or str(i)), part]
    arrays = [exp.Coalesce(this=e.copy(), expressions=[]) for e in node.expressions]
    body = exp.Anonymous(this="NAMED_STRUCT", expressions=fields)
    return exp.Anonymous(
        this="TRANSFORM",
        expressions=[
            exp.Anonymous(this="ARRAYS_ZIP", expressions=arrays),
            exp.Lambda(this=body, expressions=[variable]),
        ],
    )
