"""Compiled SQL to a plan: names resolved by scope, views expanded, one operator per clause.

Resolution follows Spark: a column of FROM wins over an alias of the SELECT list in WHERE, GROUP BY
and the list itself; HAVING sees grouped columns, then the list; a qualified name is never a CTE.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp
from sqlglot.errors import ParseError

from ivm import names, types
from ivm.calls import as_call, calls_in, is_call
from ivm.catalog import Catalog, Table, View
from ivm.check import check
from ivm.dialect import parse, to_sql
from ivm.errors import IvmError, Reason, Unsupported
from ivm.fields import name_fields
from ivm.lambdas import rename_variables
from ivm.operators import Aggregate, Call, Filter, Join, Project, Scan, UnionAll
from ivm.plan import Operator
from ivm.resolve import Item, Range, Resolver, is_star, rebuilt
from ivm.sql import cast, column, conjuncts
from ivm.typing import typing

MAX_VIEW_DEPTH = 50

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lowered:
    """A plan and its visible columns: (name shown to the user, column of the plan)."""

    plan: Operator
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Scope:
    """CTEs that are visible here, and where bare table names live."""

    ctes: dict[str, tuple[exp.CTE, Scope]]
    namespace: str | None
    depth: int = 0


def lower(sql: str, catalog: Catalog, namespace: str | None = None) -> Lowered:
    """Lower a model's SQL; raises `Unsupported` for what is outside of the grammar."""
    return _Lowering(catalog).model(sql, namespace)


class _Lowering:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.names: set[str] = set(names.TABLES)
        self.occurrences = 0

    def model(self, sql: str, namespace: str | None) -> Lowered:
        return self.text(sql, Scope({}, namespace))

    def text(self, sql: str, scope: Scope) -> Lowered:
        try:
            tree = parse(sql)
        except ParseError as error:
            raise Unsupported([Reason("SQL that is not read", str(error))]) from error
        check(tree)
        name_fields(tree)
        rename_variables(tree)
        return self.query(tree, scope)

    # -- queries ------------------------------------------------------------------------------

    def query(self, node: exp.Expr, scope: Scope) -> Lowered:
        while isinstance(node, exp.Subquery | exp.Paren) and not node.args.get("joins"):
            scope = self.with_ctes(node, scope)
            node = node.this
        scope = self.with_ctes(node, scope)
        if isinstance(node, exp.Union):
            return self.union(node, scope)
        if isinstance(node, exp.Select):
            return self.select(node, scope)
        raise Unsupported([Reason("this form of query", to_sql(node))])

    def with_ctes(self, node: exp.Expr, scope: Scope) -> Scope:
        with_ = node.args.get("with_")
        if with_ is None:
            return scope
        for cte in with_.expressions:
            # Each CTE sees those before it; its own scope is frozen here.
            scope = Scope(
                {**scope.ctes, cte.alias.lower(): (cte, scope)}, scope.namespace, scope.depth
            )
        return scope

    def union(self, node: exp.Union, scope: Scope) -> Lowered:
        sides = [self.query(side, scope) for side in (node.left, node.right)]
        if len(sides[0].outputs) != len(sides[1].outputs):
            raise Unsupported([Reason("UNION ALL of different widths", to_sql(node))])
        # (a UNION ALL b) UNION ALL c is not flattened: types are coerced pair by pair.
        visible = tuple(self.fresh(shown) for shown, _ in sides[0].outputs)
        plan = UnionAll(
            tuple(s.plan for s in sides),
            visible,
            tuple(tuple(c for _, c in s.outputs) for s in sides),
            self.fresh("branch"),
        )
        shown = (name for name, _ in sides[0].outputs)
        return Lowered(plan, tuple(zip(shown, visible, strict=True)))

    def select(self, node: exp.Select, scope: Scope) -> Lowered:
        plan, ranges, star = self.from_clause(node, scope)
        where = node.args.get("where")
        if where is not None:
            plan = Filter(plan, Resolver(ranges, star=star).resolve(where.this))
        items = list(self.items(node, Resolver(ranges, star=star)))
        resolver = Resolver(ranges, items, star)
        if node.args.get("group") or node.args.get("having") or any(map(calls_in, items_of(items))):
            return self.aggregate(node, plan, items, resolver)
        outputs = [(item.shown, resolver.item(i)) for i, item in enumerate(items)]
        return self.project(plan, outputs)

    def project(self, plan: Operator, outputs: Iterable[tuple[str, exp.Expr]]) -> Lowered:
        named = [(shown, self.fresh(shown), e) for shown, e in outputs]
        project = Project(plan, tuple((internal, e) for _, internal, e in named))
        return Lowered(project, tuple((shown, internal) for shown, internal, _ in named))

    def items(self, node: exp.Select, resolver: Resolver) -> Iterable[Item]:
        for expression in node.expressions:
            if not is_star(expression):
                inner = expression.unalias()
                if isinstance(expression, exp.Aliases):
                    raise Unsupported([Reason("several aliases for one column", to_sql(node))])
                yield Item(expression.alias_or_name or to_sql(inner), inner, bool(expression.alias))
                continue
            for shown, internal in resolver.starred(expression):
                yield Item(shown, column(internal), False, resolved=True)

    # -- FROM ---------------------------------------------------------------------------------

    def from_clause(self, node: exp.Select, scope: Scope) -> tuple[Operator, list[Range], Columns]:
        """The joined inputs, their names, and what a bare star means."""
        plan, first = self.item(node.args["from_"].this, scope)
        operands, ranges, conditions = [plan], [first], list[exp.Expr]()
        star = first.columns
        for join in node.args.get("joins") or ():
            right, range_ = self.item(join.this, scope)
            using = [i.name for i in join.args.get("using") or ()]
            if join.method == "NATURAL":
                shown = {s.lower() for s, _ in star}
                using = [s for s, _ in range_.columns if s.lower() in shown]
            if using:
                left = Resolver(ranges)
                for name in using:
                    match = range_.find(name)
                    if match is None:
                        raise Unsupported([Reason("unknown USING column", to_sql(join))])
                    conditions.append(exp.EQ(this=left.bare(name), expression=column(match)))
                merged = frozenset(n.lower() for n in using)
                range_ = Range(range_.qualifiers, range_.columns, merged)
                # Spark shows the shared columns once and first.
                star = (
                    *(c for n in using for c in star if c[0].lower() == n.lower()),
                    *(c for c in star if c[0].lower() not in merged),
                    *(c for c in range_.columns if c[0].lower() not in merged),
                )
            else:
                star = star + range_.columns
            operands.append(right)
            ranges.append(range_)
            if join.args.get("on") is not None:
                conditions.extend(conjuncts(Resolver(ranges).resolve(join.args["on"])))
        if len(operands) == 1:
            return plan, ranges, star
        return Join(tuple(operands), tuple(conditions)), ranges, star

    def item(self, node: exp.Expr, scope: Scope) -> tuple[Operator, Range]:
        if isinstance(node, exp.Subquery):
            if node.args.get("joins"):
                raise Unsupported([Reason("nested join", to_sql(node))])
            lowered = self.query(node.this, self.with_ctes(node, scope))
            return self.ranged(lowered, node, ())
        if not isinstance(node, exp.Table):
            raise Unsupported([Reason("this form of FROM", to_sql(node))])
        parts = tuple(p.name for p in node.parts)
        lowered, qualifiers = self.table(parts, scope)
        return self.ranged(lowered, node, qualifiers)

    def ranged(
        self, lowered: Lowered, node: exp.Expr, qualifiers: tuple[tuple[str, ...], ...]
    ) -> tuple[Operator, Range]:
        alias = node.args.get("alias")
        columns = lowered.outputs
        if alias is not None:
            if alias.name:
                qualifiers = ((alias.name.lower(),),)
            columns = renamed(columns, [c.name for c in alias.columns], node)
        return lowered.plan, Range(qualifiers, columns)

    def table(
        self, parts: tuple[str, ...], scope: Scope
    ) -> tuple[Lowered, tuple[tuple[str, ...], ...]]:
        lowered_parts = tuple(p.lower() for p in parts)
        if len(parts) == 1 and lowered_parts[0] in scope.ctes:
            cte, outer = scope.ctes[lowered_parts[0]]
            inner = self.query(cte.this, outer)
            columns = renamed(inner.outputs, [c.name for c in cte.args["alias"].columns], cte)
            return Lowered(inner.plan, columns), (lowered_parts,)
        found = self.catalog.resolve(parts, scope.namespace)
        qualifiers = tuple(lowered_parts[i:] for i in range(len(parts)))
        if isinstance(found, Table):
            return self.scan(found), qualifiers
        if scope.depth >= MAX_VIEW_DEPTH:
            raise IvmError(f"view {found.name} reads itself")
        inner = self.text(found.sql, Scope({}, found.namespace, scope.depth + 1))
        return self.view(found, inner), qualifiers

    def view(self, view: View, inner: Lowered) -> Lowered:
        """What its text gives now, brought to the columns that the view was created with."""
        sources = picked(view, inner.outputs)
        wanted = dict(zip(sources, view.types, strict=False))
        if wanted:
            given = dict(self.catalog.describe(to_sql(typing(inner.plan))))
            changed = {c for c, t in wanted.items() if types.differ(given[c], t)}
            if changed:
                internal = {c: self.fresh(c) for c in dict.fromkeys(sources)}
                outputs = tuple(
                    (new, cast(column(c), wanted[c]) if c in changed else column(c))
                    for c, new in internal.items()
                )
                inner = Lowered(Project(inner.plan, outputs), ())
                sources = [internal[c] for c in sources]
        return Lowered(inner.plan, tuple(zip(view.columns, sources, strict=True)))

    def scan(self, table: Table) -> Lowered:
        self.occurrences += 1
        short = table.name.rpartition(".")[2]
        outputs = tuple((c, self.fresh(f"{short}_{c}")) for c in table.columns)
        return Lowered(Scan(table, self.occurrences, outputs), outputs)

    # -- aggregates ---------------------------------------------------------------------------

    def aggregate(
        self, node: exp.Select, plan: Operator, items: list[Item], resolver: Resolver
    ) -> Lowered:
        group = node.args.get("group")
        keys = self.group_keys(group, items, resolver)
        named_keys = [(self.fresh(key_name(k)), k) for k in keys]
        calls: list[Call] = []

        def call(found: exp.Expr) -> exp.Expr:
            function, argument = as_call(found)
            for known in calls:
                if (known.function, known.argument) == (function, argument):
                    return column(known.output)
            calls.append(Call(self.fresh(function), function, argument))
            return column(calls[-1].output)

        def over_groups(expression: exp.Expr) -> exp.Expr:
            for name, key in named_keys:
                if expression.unnest() == key:
                    return column(name)
            if isinstance(expression, exp.Filter) or is_call(expression):
                return call(expression)
            if isinstance(expression, exp.Column):
                raise Unsupported(
                    [Reason("column neither grouped (as written) nor aggregated", to_sql(node))]
                )
            return rebuilt(expression.copy(), over_groups)

        outputs = [(item.shown, over_groups(resolver.item(i))) for i, item in enumerate(items)]
        having = node.args.get("having")
        condition = over_groups(resolver.having(having.this, keys)) if having is not None else None
        # GROUP BY ALL without a key is no GROUP BY: one row, also over nothing.
        top: Operator = Aggregate(plan, tuple(named_keys), tuple(calls), grouped=bool(named_keys))
        if condition is not None:
            top = Filter(top, condition)
        return self.project(top, outputs)

    def group_keys(
        self, group: exp.Group | None, items: list[Item], resolver: Resolver
    ) -> list[exp.Expr]:
        if group is None:
            return []
        keys: list[exp.Expr] = []
        if group.args.get("all"):
            found = [resolver.item(i) for i in range(len(items))]
            keys = [e for e in found if not calls_in(e)]
        for expression in group.expressions:
            if isinstance(expression, exp.Literal) and expression.is_int:
                key = resolver.item(int(expression.name) - 1)
            else:
                key = resolver.group(expression)
            keys.append(key)
        for key in keys:
            if calls_in(key):
                raise Unsupported([Reason("aggregate in GROUP BY", to_sql(group))])
        # An alias stands for its expression in parentheses, which say nothing here.
        return list(dict.fromkeys(key.unnest() for key in keys))

    def fresh(self, wanted: str) -> str:
        """A name that no other column of the plan has."""
        base = "".join(c if c.isalnum() else "_" for c in wanted.lower())[:40] or "column"
        name, n = base, 1
        while name in self.names:
            n += 1
            name = f"{base}_{n}"
        self.names.add(name)
        return name


def picked(view: View, given: Columns) -> list[str]:
    """The columns of its text that a view shows, in its order."""
    by_name: dict[str, list[str]] = {}
    for name, c in given:
        by_name.setdefault(name.lower(), []).append(c)
    wanted = [name.lower() for name in view.picked]
    found: list[str] = []
    for i, name in enumerate(wanted):
        candidates = by_name.get(name, [])
        if candidates and len(candidates) == wanted.count(name):
            found.append(candidates[wanted[:i].count(name)])
        elif len(wanted) == len(given) and not given[i][0].isidentifier():
            # The name of an expression, which Spark makes up in another way.
            found.append(given[i][1])
    if not wanted:
        found = [c for _, c in given]
    if len(found) != len(view.columns):
        raise IvmError(
            f"view {view.name} was created with other columns than its text gives now: "
            f"{', '.join(view.picked or view.columns)} then, {', '.join(n for n, _ in given)} now",
            hint=f"run the view {view.name} again",
        )
    return found


def renamed(
    columns: tuple[tuple[str, str], ...], new: list[str], node: exp.Expr
) -> tuple[tuple[str, str], ...]:
    if not new:
        return columns
    if len(new) != len(columns):
        raise Unsupported([Reason("column list of another length", to_sql(node))])
    return tuple((name, c) for name, (_, c) in zip(new, columns, strict=True))


def items_of(items: list[Item]) -> list[exp.Expr]:
    return [item.expression for item in items]


def key_name(key: exp.Expr) -> str:
    return key.name if isinstance(key, exp.Column) else "key"
