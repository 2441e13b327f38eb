"""One refresh, step by step, on any engine that can run the compiler's statements."""

from __future__ import annotations

import datetime
import decimal
import math
from collections import Counter
from typing import Any, Protocol

from sqlglot import exp

from ivm.apply.choice import Form, after, choose
from ivm.apply.measure import Measures, read_measures
from ivm.apply.merge import Move, move_only
from ivm.catalog import Catalog, View
from ivm.catalog import Table as CatalogTable
from ivm.compiler import CompiledView, compile_view
from ivm.errors import IvmError
from tests.properties.case import NAMESPACE, Case, Row

RELATIVE = 1e-9


class Mismatch(AssertionError):
    """A maintained view is not its query."""


class Refused(Exception):
    """A commit raised one of the compiler's own errors."""


class Engine(Protocol):
    """Tables with a history, and views over them. `view` is a number that names the storage."""

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]: ...

    def create(self, case: Case) -> None: ...

    def write(self, name: str, rows: tuple[Row, ...]) -> None: ...

    def build(self, view: int, compiled: CompiledView, control: str) -> None: ...

    def stage(self, view: int, name: str, query: exp.Query, compiled: CompiledView) -> None: ...

    def row(self, view: int, query: exp.Query) -> dict[str, Any]: ...

    def commit(self, view: int, statement: exp.Expression) -> None: ...

    def facade(self, view: int) -> list[Row]: ...

    def query(self, sql: str) -> list[Row]: ...

    def controls(self, view: int) -> list[str]: ...

    def changed(self, view: int) -> frozenset[str]: ...

    def pin(self, view: int) -> None:
        """The view has been brought to the current state of every table."""
        ...


class TestCatalog:
    """Tables and views by name; types from the engine."""

    __test__ = False

    def __init__(
        self, tables: list[CatalogTable], engine: Any = None, views: list[View] | None = None
    ) -> None:
        self.found: dict[str, CatalogTable | View] = {t.name: t for t in tables}
        self.found.update({v.name: v for v in views or ()})
        self.engine = engine

    def resolve(self, name: tuple[str, ...], namespace: str | None) -> CatalogTable | View:
        parts = [p.lower() for p in name]
        full = ".".join(parts if len(parts) > 1 else [namespace or NAMESPACE, *parts])
        if full not in self.found:
            raise IvmError(f"there is no table {full}")
        return self.found[full]

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        return self.engine.describe(sql)


def catalog_of(case: Case, engine: Engine) -> Catalog:
    return TestCatalog([t.for_catalog() for t in case.tables], engine)


class Maintained:
    """A view under maintenance; `forms` are the ones that its refreshes took."""

    def __init__(self, engine: Engine, number: int, sql: str, catalog: Catalog) -> None:
        self.engine, self.number, self.sql = engine, number, sql
        self.compiled = compile_view(sql, catalog, namespace=NAMESPACE)
        self.version = 0
        self.forms: list[str] = []
        self.engine.build(number, self.compiled, "v0")
        self.check("build")

    def refresh(self) -> None:
        move = Move(f"v{self.version}", f"v{self.version + 1}")
        self.forms.append(self.attempt(move))
        self.version += 1
        self.engine.pin(self.number)
        self.check(f"round {self.version}, by {self.forms[-1]}")

    def prepare(self) -> tuple[Form, Measures] | None:
        """Stage and measure; None when nothing that the view reads has changed."""
        changed = self.engine.changed(self.number)
        query = self.compiled.stage(changed)
        if query is None:
            return None
        self.engine.stage(self.number, "delta", query, self.compiled)
        row = self.engine.row(self.number, self.compiled.measure())
        measures = read_measures(self.compiled.storage, row)
        return (choose(self.compiled.storage, measures), measures) if measures.units else None

    def attempt(self, move: Move) -> str:
        prepared = self.prepare()
        if prepared is None:
            self.engine.commit(self.number, move_only(move))
            return "move_only"
        form, measures = prepared
        while True:
            try:
                self.apply(form, measures, move)
                return " ".join(filter(None, [form.name, form.recompute]))
            except Refused as refused:
                following = after(form, str(refused))
                if following is None:
                    raise
                form = following

    def apply(self, form: Form, measures: Measures, move: Move) -> None:
        if form.recompute:
            query = self.compiled.recompute(form)
            self.engine.stage(self.number, "recomputed", query, self.compiled)
        self.engine.commit(self.number, self.compiled.commit(form, measures, move))

    def check(self, when: str) -> None:
        controls = self.engine.controls(self.number)
        if controls != [f"v{self.version}"]:
            raise Mismatch(f"after {when}: control rows {controls}")
        missing, extra = difference(
            self.engine.query(self.sql), self.engine.facade(self.number)
        )
        if missing or extra:
            raise Mismatch(
                f"after {when}: missing {missing}, extra {extra}\n{self.sql}\n"
                f"{self.compiled.storage.core}"
            )


def run(case: Case, engine: Engine) -> list[str]:
    """Build, then refresh after every round; the forms that were taken."""
    engine.create(case)
    catalog = catalog_of(case, engine)
    views = [Maintained(engine, i, sql, catalog) for i, sql in enumerate(case.views)]
    for changes in case.rounds:
        for name, rows in changes.items():
            engine.write(name, rows)
        for view in views:
            view.refresh()
    return [form for view in views for form in view.forms]


def difference(expected: list[Row], found: list[Row]) -> tuple[list[Row], list[Row]]:
    """EXCEPT ALL both ways; doubles are equal within 1e-9 relative."""
    one, other = Counter(map(plain, expected)), Counter(map(plain, found))
    missing, extra = list((one - other).elements()), list((other - one).elements())
    for row in list(missing):
        match = next((r for r in extra if close(row, r)), None)
        if match is not None:
            missing.remove(row)
            extra.remove(match)
    return missing, extra


def plain(row: Row) -> Row:
    """Values that compare as SQL compares them within one type."""
    return tuple(
        value.isoformat() if isinstance(value, datetime.date) else value for value in row
    )


def close(one: Row, other: Row) -> bool:
    return len(one) == len(other) and all(map(_close, one, other))


def _close(one: Any, other: Any) -> bool:
    if isinstance(one, float) and isinstance(other, float):
        if math.isnan(one) or math.isnan(other):
            return math.isnan(one) and math.isnan(other)
        return math.isclose(one, other, rel_tol=RELATIVE)
    if isinstance(one, decimal.Decimal) != isinstance(other, decimal.Decimal):
        return False
    return bool(one == other) and (one is None) == (other is None)
