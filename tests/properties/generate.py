"""Random cases within the grammar that is maintained: tables, views, rounds of changes.

Everything is drawn through Hypothesis, so that a failing case shrinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st

from tests.properties.case import NAMESPACE, Case, Row, Table

T = TypeVar("T")
Columns = list[tuple[str, str]]  # name or reference, type
MOST_ROWS = 1500  # of one FROM clause, roughly

DECIMAL = "decimal(10,2)"
NUMBERS = ("int", "bigint", DECIMAL, "double")
TYPES = (*NUMBERS, "string", "date")
# Small, so that joins hit and rows repeat. No double cancels another of a larger magnitude.
VALUES: dict[str, tuple[Any, ...]] = {
    "int": (1, 2, None, 0, 3),
    "bigint": (1, 2, None, 0, 1 << 40),
    DECIMAL: ("1.50", "0.00", None, "-1.50", "2.25"),
    "double": (0.5, 3.0, None, -1.25, 1e20),
    "string": ("a", "b", None, "", "A"),
    "date": ("2024-01-01", "2024-02-29", None, "1999-12-31"),
}
LITERALS = {
    "int": ("1", "2", "0"),
    "bigint": ("cast(1 as bigint)", "cast(2 as bigint)"),
    DECIMAL: ("cast('1.50' as decimal(10,2))",),
    "double": ("cast(0.5 as double)",),
    "string": ("'a'", "'b'", "'it''s'"),
    "date": ("date '2024-01-01'",),
    "boolean": ("true",),
}


class Pick:
    """Small choices; the first alternative is the one that shrinking prefers."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw

    def integer(self, low: int, high: int) -> int:
        return int(self.draw(st.integers(low, high)))

    def of(self, options: Sequence[T]) -> T:
        return options[self.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        return self.integer(0, 99) >= 100 - percent


# -- tables and changes -------------------------------------------------------------------------


def table(pick: Pick, name: str) -> Table:
    columns: Columns = [("id", pick.of(("int", "bigint"))), ("k", "int")]
    for extra in ("x", "y", "z", "s")[: pick.integer(0, 4)]:
        columns.append((extra, pick.of(TYPES)))
    key = pick.of((("id",), (), ("id", "k"), ("k",)))
    # A key that the data violates is still only a promise: the view must stay exact.
    shown = Table(name, tuple(columns), key, ())
    size = 0 if pick.chance(8) else pick.integer(3, 9)
    rows = [new_row(pick, shown) for _ in range(size)]
    return Table(name, tuple(columns), key, kept(shown, rows, violated=pick.chance(30)))


def new_row(pick: Pick, table: Table) -> Row:
    return tuple(
        pick.integer(0, 6) if name == "id" and pick.chance(90) else pick.of(VALUES[type_])
        for name, type_ in table.columns
    )


def kept(table: Table, rows: list[Row], violated: bool) -> tuple[Row, ...]:
    if violated or not table.key:
        return tuple(rows)
    positions = [i for i, (name, _) in enumerate(table.columns) if name in table.key]
    return tuple({tuple(row[i] for i in positions): row for row in rows}.values())


def changed(pick: Pick, table: Table, rows: tuple[Row, ...], violated: bool) -> tuple[Row, ...]:
    """A few conflicting changes of one table."""
    if pick.chance(5):
        return ()
    now = list(rows)
    for _ in range(pick.integer(1, 4)):
        what = pick.of(("insert", "update", "insert", "delete", "copy", "again"))
        if what == "insert" or not now:
            now.append(new_row(pick, table))
            continue
        i = pick.integer(0, len(now) - 1)
        if what == "delete":
            del now[i]
        elif what == "copy":
            now.append(now[i])
        elif what == "again":
            now.append(now.pop(i))
        else:
            column = pick.integer(0, len(table.columns) - 1)
            value = pick.of(VALUES[table.columns[column][1]])
            now[i] = (*now[i][:column], value, *now[i][column + 1 :])
    return kept(table, now, violated)


# -- views --------------------------------------------------------------------------------------


@dataclass
class Views:
    """Writes one view. Aliases count up, so that no two inputs of a SELECT are called the same."""

    pick: Pick
    tables: Sequence[Table]
    ctes: dict[str, tuple[Columns, int]] = field(default_factory=dict)
    inputs: int = 0

    def view(self) -> str:
        prefix = self.with_clause()
        rows, groups = self.plain, self.grouped
        return prefix + self.pick.of((rows, groups, rows, self.over_groups, rows, groups))()

    def with_clause(self) -> str:
        parts = []
        free = ["c1", "c2", *(t.name for t in self.tables)]
        for _ in range(self.pick.of((0, 0, 0, 1, 2))):
            sql, columns, rows = self.query(1)
            name = free.pop(self.pick.integer(0, len(free) - 1))
            shown = [f"q{i}" for i in range(len(columns))]
            if self.pick.chance(20):
                columns = list(zip(shown, (k for _, k in columns), strict=True))
                parts.append(f"{name} ({', '.join(shown)}) as ({sql})")
            else:
                parts.append(f"{name} as ({sql})")
            self.ctes[name] = columns, rows
        return f"with {', '.join(parts)} " if parts else ""

    def plain(self) -> str:
        return self.query(2)[0]

    # -- queries

    def query(self, depth: int, kinds: Sequence[str] = ()) -> tuple[str, Columns, int]:
        """The text, its columns, and about how many rows it has."""
        if depth > 0 and self.pick.chance(25):
            left, columns, rows = self.query(depth - 1, kinds)
            # Columns of the branches need not have one type: Spark finds a common one.
            wider = {"int": ("int", "bigint", "double"), "bigint": ("bigint", "int")}
            wanted = [self.pick.of(wider.get(k, (k,))) for _, k in columns]
            right, _, more = self.query(depth - 1, wanted)
            if self.pick.chance(30):
                right = f"({right})"
            common = [
                (n, k if k == w or k == "double" else "double" if w == "double" else "bigint")
                for (n, k), w in zip(columns, wanted, strict=True)
            ]
            return f"{left} union all {right}", common, rows + more
        return self.select(depth, kinds)

    def select(self, depth: int, kinds: Sequence[str] = ()) -> tuple[str, Columns, int]:
        source, env, star, rows = self.from_clause(depth)
        where = self.where(env)
        if star and not kinds and self.pick.chance(15):
            return f"select * from {source}{where}", star, rows
        wanted = kinds or [self.kind(env, "boolean") for _ in range(self.pick.integer(1, 4))]
        items, columns = [], Columns()
        for i, kind in enumerate(wanted):
            bare = [(r, k) for r, k in env if k == kind]
            expression = (
                self.pick.of(bare)[0]
                if bare and self.pick.chance(50)
                else self.expression(kind, env, 2)
            )
            name = f"e{i}"
            short = expression.split(".")[-1].lower()
            known = {n for n, _ in columns}
            if any(expression == r for r, _ in env) and short not in known and (
                self.pick.chance(60) and not short.startswith("e")
            ):
                items.append(expression)
                name = short
            else:
                items.append(f"{expression} as {name}")
            columns.append((name, kind))
        return f"select {', '.join(items)} from {source}{where}", columns, rows

    def where(self, env: Columns) -> str:
        return f" where {self.condition(env, 1)}" if self.pick.chance(30) else ""

    def relation(self, depth: int) -> tuple[str, Columns, str, int]:
        """What may stand in FROM, its columns, the name that it has of itself, its rows."""
        if depth > 0 and self.pick.chance(30):
            sql, columns, rows = self.query(depth - 1)
            return f"({sql})", columns, "", rows
        names = [f"{NAMESPACE}.{t.name}" for t in self.tables]
        names += [t.name for t in self.tables if t.name not in self.ctes] + [*self.ctes] * 3
        name = self.pick.of(names)
        if name in self.ctes:
            columns, rows = self.ctes[name]
            return name, columns, name, rows
        short = name.removeprefix(f"{NAMESPACE}.")
        return name, list(next(t.columns for t in self.tables if t.name == short)), short, 8

    def from_clause(self, depth: int) -> tuple[str, Columns, Columns, int]:
        """The text, references to its columns, what a star means (empty: do not ask), its rows."""
        ranges: list[tuple[str, Columns]] = []
        text = ""
        comma = self.pick.chance(20)
        using = False
        total = 1
        for n in range(self.pick.of((1, 1, 2, 2, 2, 3, 4) if depth else (1, 1, 2))):
            sql, columns, own, rows = self.relation(depth)
            if total * rows > MOST_ROWS and n:
                break
            total *= rows
            if own and own not in [a for a, _ in ranges] and self.pick.chance(30):
                name, item = own, sql
            else:
                self.inputs += 1
                name = f"i{self.inputs}"
                item = f"{sql} {self.pick.of(('', 'as '))}{name}"
            before = list(ranges)
            ranges.append((name, columns))
            if n == 0:
                text = item
            elif comma:
                text += f", {item}"
            else:
                shared = [
                    c for c, _ in columns
                    if c in ("id", "k") and sum(c in dict(cs) for _, cs in before) == 1
                ]
                if shared and not using and self.pick.chance(25):
                    text += f" join {item} using ({self.pick.of(shared)})"
                    using = True
                elif self.pick.chance(15):
                    text += f" cross join {item}"
                else:
                    on = self.join_condition(before, (name, columns))
                    text += f" {self.pick.of(('join', 'inner join'))} {item} on {on}"
        env = []
        for name, columns in ranges:
            for column, kind in columns:
                alone = sum(column in dict(cs) for _, cs in ranges) == 1
                short = alone and self.pick.chance(40)
                reference = column if short else f"{name}.{column}"
                env.append((reference.upper() if self.pick.chance(5) else reference, kind))
        every = [c for _, columns in ranges for c in columns]
        unique = len({c for c, _ in every}) == len(every) and not using
        return text, env, every if unique else [], total

    def join_condition(
        self, before: list[tuple[str, Columns]], new: tuple[str, Columns]
    ) -> str:
        left = [(f"{a}.{c}", k) for a, columns in before for c, k in columns]
        right = [(f"{new[0]}.{c}", k) for c, k in new[1]]
        comparable = [
            (one, two)
            for one, k in left
            for two, m in right
            if k == m or {k, m} == {"int", "bigint"}
        ]
        both = left + right
        if not comparable or self.pick.chance(10):
            return self.condition(both, 1)
        parts = []
        for _ in range(self.pick.of((1, 1, 2))):
            numbers = [p for p in comparable if all(c[-2:] in ("id", ".k") for c in p)]
            one, two = self.pick.of(numbers if numbers and self.pick.chance(75) else comparable)
            operator = self.pick.of(("=", "=", "=", "=", "<=>", "<", ">=", "<>"))
            parts.append(f"{one} {operator} {two}")
        if self.pick.chance(15):
            parts.append(self.condition(both, 1))
        return self.pick.of((" and ", " and ", " and ", " or ")).join(parts)

    # -- expressions

    def kind(self, env: Columns, *more: str) -> str:
        """Mostly a type that some column has: literals alone tell little."""
        if self.pick.chance(10):
            return self.pick.of((*TYPES, *more))
        return self.pick.of(sorted({k for _, k in env if k in TYPES}) or TYPES)

    def expression(self, kind: str, env: Columns, depth: int) -> str:
        known = [r for r, k in env if k == kind]
        leaf = self.pick.of(known) if known and self.pick.chance(85) else None
        if depth == 0 or self.pick.chance(45):
            if kind == "boolean" and leaf is None:
                return self.condition(env, 0)
            return leaf or self.pick.of(LITERALS[kind])
        one = self.expression(kind, env, depth - 1)
        forms = ["one", "case", "coalesce", "if"]
        forms += {
            "int": ["plus", "times", "negative", "nullif"],
            "bigint": ["plus", "cast"],
            "double": ["times"],
            DECIMAL: ["negative"],
            "string": ["concat", "upper", "text"],
            "boolean": ["condition"],
        }.get(kind, [])
        form = self.pick.of(forms)
        if form == "one":
            return one
        if form == "negative":
            return f"-({one})"
        if form == "times":
            return f"{one} * 2" if one.isidentifier() else f"({one}) * 2"
        if form == "upper":
            return f"upper({one})"
        if form == "condition":
            return f"({self.condition(env, depth - 1)})"
        if form == "text":
            return f"cast({self.expression('int', env, depth - 1)} as string)"
        if form == "cast":
            return f"cast({self.expression('int', env, depth - 1)} as bigint)"
        if form == "case":
            condition = self.condition(env, depth - 1)
            otherwise = self.pick.of(("", f" else {self.expression(kind, env, 0)}"))
            return f"case when {condition} then {one}{otherwise} end"
        other = self.expression(kind, env, depth - 1)
        if form == "coalesce":
            return f"coalesce({one}, {other})"
        if form == "nullif":
            return f"nullif({one}, {other})"
        if form == "if":
            return f"if({self.condition(env, depth - 1)}, {one}, {other})"
        return f"({one} {'||' if form == 'concat' else '+'} {other})"

    def condition(self, env: Columns, depth: int) -> str:
        if depth > 0 and self.pick.chance(30):
            one, other = (self.condition(env, depth - 1) for _ in range(2))
            return self.pick.of((f"{one} and {other}", f"({one} or {other})", f"not ({one})"))
        kind = self.kind(env)
        known = [r for r, k in env if k == kind]
        left = self.pick.of(known) if known else self.expression(kind, env, depth)
        right = self.expression(kind, env, depth)
        form = self.pick.integer(0, 11)
        if form == 0:
            return f"{left} = {right}"
        if form > 9:
            return f"{left} is not null"
        if form > 5:
            return f"({left} >= {right} or {left} is null)"
        if form == 1:
            return f"{left} {self.pick.of(('<', '<=', '>', '>=', '<>', '<=>'))} {right}"
        if form == 2:
            return f"{left} is {self.pick.of(('', 'not '))}null"
        if form == 3:
            options = ", ".join(self.pick.of(LITERALS[kind]) for _ in range(2))
            return f"{left} {self.pick.of(('', 'not '))}in ({options})"
        if form == 4:
            return f"{left} between {self.pick.of(LITERALS[kind])} and {right}"
        return f"{left} = {self.pick.of(LITERALS[kind])}"

    # -- aggregates

    def grouped(self) -> str:
        return self.aggregate()[0]

    def over_groups(self) -> str:
        sql, columns = self.aggregate()
        self.inputs += 1
        env = [(f"i{self.inputs}.{n}", k) for n, k in columns]
        items = ", ".join(
            f"{self.expression(k, env, 1)} as f{i}" for i, (_, k) in enumerate(columns)
        )
        return f"select {items} from ({sql}) i{self.inputs}{self.where(env)}"

    def aggregate(self) -> tuple[str, Columns]:
        source, env, _, _ = self.from_clause(2)
        where = self.where(env)
        keys: Columns = []
        form = self.pick.of(("none", "expression", "ordinal", "alias", "all"))
        for _ in range(0 if form == "none" else self.pick.integer(form != "all", 3)):
            kind = self.kind(env)
            expression = self.expression(kind, env, 1)
            if expression.replace(".", "").isidentifier() or any(
                r.lower() in expression.lower() for r, _ in env
            ):
                keys.append((expression, kind))
        if not keys and form not in ("none", "all"):
            keys = [self.pick.of(env)]
        items = [f"{e} as g{i}" for i, (e, _) in enumerate(keys)]
        columns = [(f"g{i}", k) for i, (_, k) in enumerate(keys)]
        for i in range(self.pick.integer(1, 4)):
            call, kind = self.call(env)
            items.append(f"{self.over(call, kind, [] if form == 'all' else keys)} as a{i}")
            columns.append((f"a{i}", kind))
        hidden = form == "expression" and self.pick.chance(15)
        if hidden:
            items, columns = items[len(keys) :], columns[len(keys) :]
        group = {
            "none": "",
            "all": " group by all",
            "ordinal": " group by " + ", ".join(str(i + 1) for i in range(len(keys))),
            "alias": " group by " + ", ".join(f"g{i}" for i in range(len(keys))),
            "expression": " group by " + ", ".join(e for e, _ in keys),
        }[form]
        having = ""
        if self.pick.chance(30):
            call, kind = self.call(env)
            test = self.pick.of((f"{call} > 0", f"{call} is not null", "a0 is not null"))
            if keys and form == "expression" and not hidden and self.pick.chance(40):
                test += f" or {keys[0][0]} is null"
            having = f" having {test}"
        return f"select {', '.join(items)} from {source}{where}{group}{having}", columns

    def call(self, env: Columns) -> tuple[str, str]:
        function = self.pick.of(("count", "sum", "avg", "count_all", "count_two"))
        kind = self.pick.of(sorted({k for _, k in env if k in NUMBERS}) or NUMBERS)
        argument = self.expression(kind, env, 1)
        if function == "count_all":
            call, result = self.pick.of(("count(*)", "count(1)")), "bigint"
        elif function == "count_two":
            call, result = f"count({argument}, {self.expression('string', env, 1)})", "bigint"
        elif function == "count":
            call, result = f"count({argument})", "bigint"
        elif function == "sum":
            call = f"sum({argument})"
            result = {"int": "bigint", DECIMAL: "sum"}.get(kind, kind)
        else:
            if kind == DECIMAL:
                argument = f"cast({argument} as {DECIMAL})"
            call, result = f"avg({argument})", "mean" if kind == DECIMAL else "double"
        if self.pick.chance(25):
            call += f" filter (where {self.condition(env, 1)})"
        return call, result

    def over(self, call: str, kind: str, keys: Columns) -> str:
        """An expression over an aggregate, of the same type."""
        form = self.pick.integer(0, 5)
        if form == 0:
            return f"coalesce({call}, 0)"
        if form == 1 and kind in ("bigint", "double"):
            return f"{call} + 1"
        if form == 2:
            return f"case when count(*) > 1 then {call} end"
        numbers = [e for e, k in keys if k == "int"]
        if form == 3 and numbers and kind == "bigint":
            return f"{call} + {numbers[0]}"
        return call


# Results of aggregates that no expression above them is written for.
LITERALS |= {
    "sum": ("cast(1 as decimal(20,2))",),
    "mean": ("cast(1 as decimal(14,6))",),
}


@st.composite
def cases(draw: Any, views: int = 1, rounds: int = 3) -> Case:
    return draw_case(Pick(draw), views, rounds)


def draw_case(pick: Pick, views: int = 1, rounds: int = 3) -> Case:
    names = ("t", "u", "v")[: pick.of((1, 2, 2, 3))]
    tables = tuple(table(pick, name) for name in names)
    sqls = tuple(Views(pick, tables).view() for _ in range(views))
    states = {t.name: t.rows for t in tables}
    history = []
    for _ in range(pick.integer(1, rounds)):
        violated = pick.chance(30)
        changes = {
            t.name: changed(pick, t, states[t.name], violated)
            for t in tables
            if pick.chance(85)
        }
        states |= changes
        history.append(changes)
    return Case(tables, sqls, tuple(history))
