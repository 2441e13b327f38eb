"""Names to plan columns, for one SELECT, as Spark resolves them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from ivm.calls import is_call
from ivm.dialect import to_sql
from ivm.errors import Reason, Unsupported
from ivm.functions import call_name
from ivm.sql import column, columns_in


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
class Item:
    """An item of the SELECT list before resolution (`resolved`: it came from a star)."""

    shown: str
    expression: exp.Expr
    aliased: bool
    resolved: bool = False


class Resolver:
    """Names to plan columns, for one SELECT."""

    def __init__(
        self,
        ranges: Sequence[Range],
        items: Sequence[Item] = (),
        star: tuple[tuple[str, str], ...] = (),
    ) -> None:
        self.ranges, self.items, self.star = ranges, items, star

    def item(self, index: int) -> exp.Expr:
        if not 0 <= index < len(self.items):
            raise Unsupported([Reason("position outside of the SELECT list", str(index + 1))])
        item = self.items[index]
        if item.resolved:
            return item.expression.copy()
        return self.resolve(item.expression, before=index)

    def group(self, expression: exp.Expr) -> exp.Expr:
        return self.resolve(expression, before=len(self.items))

    def having(self, expression: exp.Expr, keys: Sequence[exp.Expr]) -> exp.Expr:
        """A grouped column first, then the SELECT list; inside an aggregate call only FROM."""

        def replace(node: exp.Expr, inside: bool) -> exp.Expr:
            if isinstance(node, exp.Column):
                alias = None if inside else self.alias(node, len(self.items))
                plain = self.find(node)
                found = plain if alias is None or plain in keys else alias
                if (
                    alias is not None
                    and plain is not None
                    and found is alias
                    and alias.unnest() != plain
                    and any(columns_in(plain) & columns_in(key) for key in keys)
                ):
                    raise Unsupported(
                        [Reason("name that is a column and an alias in HAVING", to_sql(node))]
                    )
                if found is None:
                    raise Unsupported([Reason("ambiguous or unknown name", to_sql(node))])
                return found
            if any(map(is_star, operands(node))):
                return self.expanded(node, lambda child: replace(child, inside))
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
            if any(map(is_star, operands(node))):
                return self.expanded(node, replace)
            return rebuilt(node, replace)

        return replace(expression.copy())

    def expanded(self, call: exp.Expr, resolve: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """A star among the arguments of a call stands for columns; that of `count(*)` for rows."""
        name = call_name(call)
        if isinstance(call, exp.Count) and isinstance(call.this, exp.Star) and not call.expressions:
            return call
        if name is None or is_call(call) or not isinstance(call, exp.Anonymous | exp.Coalesce):
            raise Unsupported([Reason("* as an operand", to_sql(call))])
        arguments: list[exp.Expr] = []
        for argument in operands(call):
            if not is_star(argument):
                arguments.append(resolve(argument))
                continue
            for shown, internal in self.starred(argument):
                found: exp.Expr = column(internal)
                # Spark names the fields of a struct after its columns.
                named = exp.alias_(found, shown, quoted=True) if name == "struct" else found
                arguments.append(named)
        return exp.Anonymous(this=name.upper(), expressions=arguments)

    def starred(self, node: exp.Expr) -> tuple[tuple[str, str], ...]:
        """The columns that a star means."""
        star = node.this if isinstance(node, exp.Column) else node
        if star.args.get("replace") or star.args.get("rename"):
            raise Unsupported([Reason("* REPLACE or RENAME", to_sql(node))])
        columns = self.star
        if isinstance(node, exp.Column):
            parts = tuple(p.name.lower() for p in node.parts[:-1])
            chosen = [r for r in self.ranges if parts in r.qualifiers]
            if len(chosen) != 1:
                raise Unsupported([Reason("ambiguous or unknown name", to_sql(node))])
            columns = chosen[0].columns
        skipped = {e.name.lower() for e in star.args.get("except_") or ()}
        return tuple((s, c) for s, c in columns if s.lower() not in skipped)

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


def is_star(node: exp.Expr) -> bool:
    return isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    )


def operands(call: exp.Expr) -> list[exp.Expr]:
    first = call.args.get("this")
    return [e for e in (first, *call.expressions) if isinstance(e, exp.Expr)]


def rebuilt(node: exp.Expr, change: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
    """Change the children in place."""
    for name, value in list(node.args.items()):
        if isinstance(value, exp.Expr):
            node.set(name, change(value))
        elif isinstance(value, list):
            node.set(name, [change(v) if isinstance(v, exp.Expr) else v for v in value])
    return node
