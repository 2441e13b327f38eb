"""A view that is not maintained: its text is run as it stands, and its rows are stored.

The one place where SQL is not built from expressions: the user's text is outside of the grammar,
so it is not taken apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ivm import names
from ivm.dialect import to_sql
from ivm.sql import alias, cast, column, is_null, null_of, select, text
from ivm.types import VOID


@dataclass(frozen=True)
class OpaqueView:
    sql: str
    columns: tuple[tuple[str, str, str], ...]  # stored name, shown name, type

    def facade(self) -> exp.Select:
        outputs = [alias(_shown(stored, t), shown) for stored, shown, t in self.columns]
        return select(
            outputs, exp.table_(names.STORAGE, quoted=True), is_null(column(names.CONTROL))
        )

    def build(self, control: str) -> str:
        outputs = [alias(null_of("string"), names.CONTROL)]
        outputs += [column(stored) for stored, _ in self._kept()]
        shown = ", ".join(to_sql(e) for e in outputs)
        inner = ", ".join(to_sql(column(stored)) for stored, _, _ in self.columns)
        row = exp.Select(
            expressions=[
                alias(text(control), names.CONTROL),
                *(alias(null_of(t), stored) for stored, t in self._kept()),
            ]
        )
        return f"SELECT {shown} FROM (\n{self.sql}\n) AS q ({inner})\nUNION ALL\n{to_sql(row)}"

    def _kept(self) -> list[tuple[str, str]]:
        """A NULL without a type is shown but not stored: it has no other value."""
        return [(stored, t) for stored, _, t in self.columns if t != VOID]


def _shown(stored: str, type_: str) -> exp.Expr:
    if type_ == VOID:
        return exp.null()
    # Of a nested type Spark's text cannot be written back, see `null_of`.
    return column(stored) if "<" in type_ else cast(column(stored), type_)


def opaque_view(sql: str, columns: Sequence[tuple[str, str]]) -> OpaqueView:
    stored = [(names.hidden("column", i), name, type_) for i, (name, type_) in enumerate(columns)]
    return OpaqueView(sql.strip().rstrip(";"), tuple(stored))
