"""Compiled SQL to a plan: names resolved by scope, views expanded, one operator per clause.

Resolution follows Spark: a column of FROM wins over an alias of the SELECT list in WHERE, GROUP BY
and the list itself; HAVING sees the list first; a qualified name is never a CTE.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import ParseError

from ivm import functions
from ivm.catalog import Catalog, Table
from ivm.check import MAINTAINED_AGGREGATES, check
from ivm.dialect import parse, to_sql
from ivm.errors import IvmError, Reason, Unsupported
from ivm.operators import Aggregate, Call, Filter, Join, Project, Scan, UnionAll
from ivm.plan import Operator
from ivm.sql import column, conjuncts

MAX_VIEW_DEPTH = 50

Columns = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Lowered:
    """A plan and its visible columns: (name shown to the user, column of the plan)."""

    plan: Operator
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Range:
    """One item of FROM: what it may be called, and its columns (shown name, plan column)."""

    qualifiers: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[str, str], ...]
    merged: frozenset[str] = field(default=frozenset())  # hidden behind USING for bare names

    def find(self, name: str) -> str | None:
        found = [c for shown, c in self.columns if shown.lower() == name.lower()]
        return found[0] if len(found) == 1 else None

    def has(self, name: str) -> bool:
        return any(shown.lower() == name.lower() for shown, _ in self.columns)


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
        self.names: set[str] = set()
        self.occurrences = 0

    def model(self, sql: str, namespace: str | None) -> Lowered:
        return self.text(sql, Scope({}, namespace))

    def text(self, sql: str, scope: Scope) -> Lowered:
        try:
            tree = parse(sql)
        except ParseError as error:
            raise Unsupported([Reason("SQL that is not read", str(error))]) from error
        check(tree)
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
            plan = Filter(plan, Resolver(ranges).resolve(where.this))
        items = list(self.items(node, ranges, star))
        resolver = Resolver(ranges, items)
        if node.args.get("group") or node.args.get("having") or any(map(calls_in, items_of(items))):
            return self.aggregate(node, plan, items, resolver)
        outputs = [(item.shown, resolver.item(i)) for i, item in enumerate(items)]
        return self.project(plan, outputs)

    def project(self, plan: Operator, outputs: Iterable[tuple[str, exp.Expr]]) -> Lowered:
        named = [(shown, self.fresh(shown), e) for shown, e in outputs]
        project = Project(plan, tuple((internal, e) for _, internal, e in named))
        return Lowered(project, tuple((shown, internal) for shown, internal, _ in named))

    def items(
        self, node: exp.Select, ranges: Sequence[Range], all_columns: Columns
    ) -> Iterable[Item]:
        for expression in node.expressions:
            star = expression.this if isinstance(expression, exp.Column) else expression
            if not isinstance(star, exp.Star):
                inner = expression.unalias()
                if isinstance(expression, exp.Aliases):
                    raise Unsupported([Reason("several aliases for one column", to_sql(node))])
                yield Item(expression.alias_or_name or to_sql(inner), inner, bool(expression.alias))
                continue
            if star.args.get("replace") or star.args.get("rename"):
                raise Unsupported([Reason("* REPLACE or RENAME", to_sql(expression))])
            skipped = {e.name.lower() for e in star.args.get("except_") or ()}
            columns = all_columns
            if isinstance(expression, exp.Column):
                parts = tuple(p.name.lower() for p in expression.parts[:-1])
                chosen = [r for r in ranges if parts in r.qualifiers]
                if len(chosen) != 1:
                    raise Unsupported([Reason("ambiguous or unknown name", to_sql(expression))])
                columns = chosen[0].columns
            for shown, internal in columns:
                if shown.lower() not in skipped:
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
        if len(inner.outputs) != len(found.columns):
            raise IvmError(
                f"view {found.name} has {len(found.columns)} columns, "
                f"but its text now gives {len(inner.outputs)}",
                hint=f"run the view {found.name} again",
            )
        shown = zip(found.columns, inner.outputs, strict=True)
        return Lowered(inner.plan, tuple((name, c) for name, (_, c) in shown)), qualifiers

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
        condition = over_groups(resolver.having(having.this)) if having is not None else None
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


@dataclass(frozen=True)
class Item:
    """An item of the SELECT list before resolution (`resolved`: it came from a star)."""

    shown: str
    expression: exp.Expr
    aliased: bool
    resolved: bool = False


class Resolver:
    """Names to plan columns, for one SELECT."""

    def __init__(self, ranges: Sequence[Range], items: Sequence[Item] = ()) -> None:
        self.ranges, self.items = ranges, items

    def item(self, index: int) -> exp.Expr:
        if not 0 <= index < len(self.items):
            raise Unsupported([Reason("position outside of the SELECT list", str(index + 1))])
        item = self.items[index]
        if item.resolved:
            return item.expression.copy()
        return self.resolve(item.expression, before=index)

    def group(self, expression: exp.Expr) -> exp.Expr:
        return self.resolve(expression, before=len(self.items))

    def having(self, expression: exp.Expr) -> exp.Expr:
        """Aliases first; inside an aggregate call only FROM counts."""

        def replace(node: exp.Expr, inside: bool) -> exp.Expr:
            if isinstance(node, exp.Column):
                alias = None if inside else self.alias(node, len(self.items))
                plain = self.find(node)
                if (
                    alias is not None
                    and plain is not None
                    and alias != plain
                    and (not calls_in(alias))
                ):
                    raise Unsupported(
                        [Reason("name that is a column and an alias in HAVING", to_sql(node))]
                    )
                found = alias if alias is not None else plain
                if found is None:
                    raise Unsupported([Reason("ambiguous or unknown name", to_sql(node))])
                return found
            return rebuilt(node, lambda child: replace(child, inside or is_call(node)))

        return replace(expression.copy(), False)

    def resolve(self, expression: exp.Expr, before: int = 0) -> exp.Expr:
        """`before`: how many items of the SELECT list may be meant by a name that FROM lacks."""

        def replace(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column):
                found = self.find(node) or self.alias(node, before)
                if found is None:
                    raise Unsupported([Reason("ambiguous or unknown name", to_sql(node))])
                return found
            return rebuilt(node, replace)

        return replace(expression.copy())

    def alias(self, node: exp.Column, before: int) -> exp.Expr | None:
        if len(node.parts) > 1:
            return None
        matches = [
            i
            for i, item in enumerate(self.items[:before])
            if item.aliased and item.shown.lower() == node.name.lower()
        ]
        if len(matches) != 1:
            return None
        found = self.item(matches[0])
        return found if isinstance(found, exp.Column | exp.Literal) else exp.paren(found)

    def bare(self, name: str) -> exp.Expr:
        found = self.find(exp.column(name))
        if found is None:
            raise Unsupported([Reason("ambiguous or unknown name", name)])
        return found

    def find(self, node: exp.Column) -> exp.Expr | None:
        """The one meaning of a dotted name: a column, or fields of a struct column."""
        parts = [p.name for p in node.parts]
        meanings: list[exp.Expr] = []
        for range_ in self.ranges:
            for length in range(len(parts)):
                qualifier = tuple(p.lower() for p in parts[:length])
                if length and qualifier not in range_.qualifiers:
                    continue
                if not length and parts[0].lower() in range_.merged:
                    continue
                internal = range_.find(parts[length])
                if internal is None:
                    if range_.has(parts[length]):
                        return None
                    continue
                meaning: exp.Expr = column(internal)
                for field_name in parts[length + 1 :]:
                    meaning = exp.Dot(
                        this=meaning, expression=exp.to_identifier(field_name, quoted=True)
                    )
                meanings.append(meaning)
        return meanings[0] if len(meanings) == 1 else None


def rebuilt(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Change the children in place."""
    for name, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, change(value))
        elif isinstance(value, list):
            node.set(name, [change(v) if isinstance(v, exp.Expr) else v for v in value])
    return node


def renamed(
    columns: tuple[tuple[str, str], ...], new: list[str], node: exp.Expr
) -> tuple[tuple[str, str], ...]:
    if not new:
        return columns
    if len(new) != len(columns):
        raise Unsupported([Reason("column list of another length", to_sql(node))])
    return tuple((name, c) for name, (_, c) in zip(new, columns, strict=True))


def is_call(node: exp.Expr) -> bool:
    return functions.call_name(node) in MAINTAINED_AGGREGATES


def calls_in(expression: exp.Expr) -> bool:
    return any(is_call(node) for node in expression.walk())


def items_of(items: list[Item]) -> list[exp.Expr]:
    return [item.expression for item in items]


def key_name(key: exp.Expr) -> str:
    return key.name if isinstance(key, exp.Column) else "key"


def as_call(node: exp.Expr) -> tuple[str, exp.Expr | None]:
    """Function and argument, with FILTER folded into the argument."""
    condition = None
    if isinstance(node, exp.Filter):
        condition = node.expression.this
        node = node.this
        if not is_call(node):
            raise Unsupported([Reason("FILTER on this expression", to_sql(node))])
    if calls_in_arguments(node):
        raise Unsupported([Reason("aggregate of an aggregate", to_sql(node))])
    function = functions.call_name(node) or ""
    function = "avg" if function == "mean" else function
    arguments = [node.this, *node.expressions] if node.this is not None else node.expressions
    arguments = [a for a in arguments if isinstance(a, exp.Expr)]
    argument: exp.Expr | None
    if function == "count" and (not arguments or isinstance(arguments[0], exp.Star)):
        argument = None
    elif function == "count" and len(arguments) > 1:
        argument = all_present(arguments)
    else:
        argument = arguments[0]
    if condition is None:
        return function, argument
    value = argument if argument is not None else exp.Literal.number(1)
    # No ELSE: not satisfied, and unknown, both leave the row out.
    return function, exp.Case().when(condition.copy(), value.copy())


def all_present(arguments: list[exp.Expr]) -> exp.Expr:
    """COUNT(a, b) counts the rows where neither is NULL."""
    present = [exp.not_(exp.Is(this=a.copy(), expression=exp.null())) for a in arguments]
    return exp.Case().when(exp.and_(*present), exp.Literal.number(1))


def calls_in_arguments(node: exp.Expr) -> bool:
    return any(is_call(inner) for inner in node.walk() if inner is not node)
