"""Lambda variables under names that no column has.

A column of the plan may be called like a variable of the user, and the variable would hide it.
Named by depth, so that two lambdas of one text stay equal.
"""

from __future__ import annotations

from sqlglot import exp

from ivm import names


def rename_variables(tree: exp.Expr, known: dict[str, str] | None = None, depth: int = 0) -> None:
    """In place; `known` maps the variables that are visible, in lower case, to their new names.

    >>> from ivm.dialect import parse
    >>> tree = parse("select transform(a, x -> X.f + y) from t")
    >>> rename_variables(tree)
    >>> tree.sql("spark")
    'SELECT TRANSFORM(a, __ivm_v0_0 -> __ivm_v0_0.f + y) FROM t'
    """
    known = known or {}
    if isinstance(tree, exp.Lambda):
        own = [(i, i.name.lower()) for i in tree.expressions]
        known = known | {old: f"{names.PREFIX}v{depth}_{n}" for n, (_, old) in enumerate(own)}
        for identifier, old in own:
            identifier.replace(exp.to_identifier(known[old]))
        depth += 1
    for node in list(tree.iter_expressions()):
        first = _first(node)
        if first is None:
            rename_variables(node, known, depth)
        elif first.name.lower() in known:
            node.replace(_variable(node, exp.to_identifier(known[first.name.lower()])))


def _first(node: exp.Expr) -> exp.Identifier | None:
    """What a reference begins with; None for all that is no reference."""
    if isinstance(node, exp.Column):
        return node.parts[0] if isinstance(node.parts[0], exp.Identifier) else None
    if isinstance(node, exp.Identifier):
        return node if _stands_for_a_value(node) else None
    return None


def _stands_for_a_value(node: exp.Identifier) -> bool:
    """A bare identifier is a variable, unless it only names a part of its parent."""
    parent = node.parent
    if isinstance(parent, exp.Lambda):
        return node.arg_key == "this"
    if isinstance(parent, exp.Dot):
        return node.arg_key == "this"
    return not isinstance(
        parent, exp.Column | exp.Table | exp.TableAlias | exp.Alias | exp.ColumnDef | exp.CTE
    ) or (isinstance(parent, exp.Alias) and node.arg_key == "this")


def _variable(node: exp.Expr, new: exp.Identifier) -> exp.Expr:
    """The same reference, beginning with another name."""
    rest = node.parts[1:] if isinstance(node, exp.Column) else []
    found: exp.Expr = new
    for part in rest:
        found = exp.Dot(this=found, expression=part.copy())
    return found
