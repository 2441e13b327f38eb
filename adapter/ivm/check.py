"""What the maintained grammar leaves out, found all at once, before anything is lowered."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ivm import functions
from ivm.dialect import to_sql
from ivm.errors import Reason, Unsupported

MAINTAINED_AGGREGATES = frozenset({"count", "sum", "avg", "mean"})

# Spark reads these as a date or time of now, wherever a constant becomes one. So do comparisons.
_MOMENT = re.compile(r"\s*(now|today|tomorrow|yesterday)(\s+\S+)?\s*", re.IGNORECASE)
_TO_TIME = frozenset(
    {
        *("cast", "try_cast", "date", "timestamp", "to_date", "try_to_date"),
        *("to_timestamp", "to_timestamp_ltz", "to_timestamp_ntz", "try_to_timestamp"),
    }
)

_CLAUSES = {
    "distinct": "SELECT DISTINCT",
    "limit": "LIMIT",
    "offset": "OFFSET",
    "qualify": "QUALIFY",
    "windows": "WINDOW",
    "laterals": "LATERAL VIEW",
    "pivots": "PIVOT",
    "cluster": "CLUSTER BY",
    "distribute": "DISTRIBUTE BY",
    "sort": "SORT BY",
    "into": "SELECT INTO",
    "match": "MATCH_RECOGNIZE",
    "sample": "TABLESAMPLE",
    "kind": "SELECT AS",
    "operation_modifiers": "a modifier",
}


def check(tree: exp.Expr) -> None:
    """Raise `Unsupported` with every construct that cannot be maintained."""
    reasons = list(_reasons(tree))
    if reasons:
        raise Unsupported(reasons)


def _reasons(tree: exp.Expr) -> Iterator[Reason]:
    if not isinstance(tree, exp.Query):
        yield Reason("not a SELECT", to_sql(tree))
        return
    for node in tree.walk():
        if isinstance(node, exp.Select | exp.SetOperation):
            yield from _query(node)
        elif isinstance(node, exp.Join):
            yield from _join(node)
        elif isinstance(node, exp.GroupingSets | exp.Cube | exp.Rollup):
            yield Reason("GROUPING SETS, CUBE or ROLLUP", to_sql(node.parent or node))
        elif isinstance(node, exp.Table):
            yield from _table(node)
        elif isinstance(node, exp.With) and node.args.get("recursive"):
            yield Reason("recursive CTE", to_sql(node))
        elif isinstance(node, exp.Window):
            yield Reason("window function", to_sql(node))
        elif isinstance(node, exp.Lateral | exp.Unnest | exp.Values | exp.Pivot | exp.TableSample):
            yield Reason(type(node).__name__.upper(), to_sql(node))
        elif isinstance(node, exp.WithinGroup):
            yield Reason("ordered-set aggregate", to_sql(node))
        elif isinstance(node, exp.Query | exp.Exists | exp.SubqueryPredicate):
            yield from _subquery(node)
        elif isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
            yield Reason("parameter", to_sql(node))
        elif isinstance(node, exp.Literal):
            yield from _moment(node)
        else:
            yield from _call(node)


def _query(node: exp.Select | exp.SetOperation) -> Iterator[Reason]:
    if isinstance(node, exp.SetOperation):
        if not isinstance(node, exp.Union):
            yield Reason(type(node).__name__.upper(), to_sql(node))
        elif node.args.get("distinct"):
            yield Reason("UNION (use UNION ALL to have it maintained)", to_sql(node))
        if node.args.get("by_name"):
            yield Reason("UNION BY NAME", to_sql(node))
    for clause, construct in _CLAUSES.items():
        if node.args.get(clause):
            # A set operation keeps its own DISTINCT under the same name.
            if clause == "distinct" and isinstance(node, exp.SetOperation):
                continue
            yield Reason(construct, to_sql(node))
    if isinstance(node, exp.Select):
        if not node.args.get("from_"):
            yield Reason("SELECT without FROM", to_sql(node))
        if _in_expression(node):
            yield Reason("subquery in an expression", to_sql(node))


def _in_expression(node: exp.Expr) -> bool:
    """A query is an input below FROM, JOIN, WITH and set operations; anywhere else an operand."""
    parent = node.parent
    while isinstance(parent, exp.Subquery | exp.Paren | exp.SetOperation):
        node, parent = parent, parent.parent
    return not (parent is None or isinstance(parent, exp.From | exp.CTE | exp.Join | exp.Table))


def _join(node: exp.Join) -> Iterator[Reason]:
    if node.side or node.kind not in ("", "INNER", "CROSS"):
        yield Reason(" ".join(filter(None, (node.side, node.kind, "JOIN"))), to_sql(node))


def _table(node: exp.Table) -> Iterator[Reason]:
    if not isinstance(node.this, exp.Identifier):
        yield Reason("table-valued function", to_sql(node))
    elif node.args.get("version") or node.args.get("when"):
        yield Reason("time travel", to_sql(node))
    elif node.args.get("joins"):
        yield Reason("nested join", to_sql(node))


def _subquery(node: exp.Expr) -> Iterator[Reason]:
    if isinstance(node, exp.Exists | exp.SubqueryPredicate):
        yield Reason("subquery in an expression", to_sql(node))


def _moment(node: exp.Literal) -> Iterator[Reason]:
    parent = node.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    if parent is None or not node.is_string or not _MOMENT.fullmatch(node.name):
        return
    compared = isinstance(parent, exp.Predicate | exp.Between | exp.In)
    timed = functions.call_name(parent) in _TO_TIME and not (
        isinstance(parent, exp.Cast) and not parent.to.is_type(*exp.DataType.TEMPORAL_TYPES)
    )
    if compared or timed:
        yield Reason("a literal that means another time every day", to_sql(parent))


def _call(node: exp.Expr) -> Iterator[Reason]:
    name, kind = functions.call_name(node), functions.kind(node)
    if name is None:
        return
    if name == "session_window":
        yield Reason("session window, which rows of others extend", to_sql(node))
    elif name in functions.UNPRINTABLE:
        yield Reason(f"function {name}()", to_sql(node))
    elif kind in ("volatile", "window"):
        yield Reason(f"{kind} function {name}()", to_sql(node))
    elif kind == "generator":
        yield Reason(f"generator {name}()", to_sql(node))
    elif kind == "aggregate":
        if name not in MAINTAINED_AGGREGATES:
            yield Reason(f"aggregate {name}()", to_sql(node))
        elif node.find(exp.Distinct):
            yield Reason(f"{name}(DISTINCT ...)", to_sql(node))
    elif kind != "scalar":
        yield Reason(f"user-defined function {name}(), whose determinism is unknown", to_sql(node))
