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


@dataclass(frozen=True)
class OpaqueView:
    sql: str
    columns: tuple[tuple[str, str, str], ...]  # stored name, shown name, type

    def facade(self) -> exp.Select:
        outputs = [
            alias(column(stored) if "<" in t else cast(column(stored), t), shown)
            for stored, shown, t in self.columns
        ]
        return select(
            outputs, exp.table_(names.STORAGE, quoted=True), is_null(column(names.CONTROL))
        )

    def build(self, control: str) -> str:
        outputs = [alias(null_of("string"), names.CONTROL)]
        outputs += [column(stored) for stored, _, _ in self.columns]
        shown = ", ".join(to_sql(e) for e in outputs)
        inner = ", ".join(to_sql(column(stored)) for stored, _, _ in self.columns)
        row = exp.Select(
            expressions=[
                alias(text(control), names.CONTROL),
                *(alias(null_of(t), stored) for stored, _, t in self.columns),
            ]
        )
        return f"SELECT {shown} FROM (\n{self.sql}\n) AS q ({inner})\nUNION ALL\n{to_sql(row)}"


def opaque_view(sql: str, columns: Sequence[tuple[str, str]]) -> OpaqueView:
    stored = [(names.hidden("column", i), name, type_) for i, (name, type_) in enumerate(columns)]
    return OpaqueView(sql.strip().rstrip(";"), tuple(stored))
