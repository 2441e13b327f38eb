"""Spark and Delta run the compiler's statements: real feeds, real versions, real commits."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from dbt.adapters.sparkivm.session import root_session
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from sqlglot import exp

from ivm import names
from ivm.compiler import CompiledView
from ivm.render.binding import Binding, Source
from ivm.render.delta_lake import Feed, Unchanged
from ivm.render.spark import drop_stage, stage_table, statement
from tests.properties.case import NAMESPACE, Case, Row, Table, literal
from tests.properties.engine import Refused

PARAMETERS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "2g",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "2",
}

# Tables have a handful of rows: compiling and re-planning a query costs more than running it.
SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


class Spark:
    """A session of its own over a folder of its own; the JVM is shared by the process."""

    def __init__(self, session: SparkSession, folder: Path) -> None:
        self.session, self.folder = session, folder
        session.sql(f"create database if not exists {NAMESPACE}")
        session.sql(f"use {NAMESPACE}")
        for name, value in SETTINGS.items():
            session.conf.set(name, value)
        self.tables: dict[str, Table] = {}
        self.rows: dict[str, tuple[Row, ...]] = {}
        self.compiled: dict[int, CompiledView] = {}
        self.pins: dict[int, dict[str, int]] = {}
        self.statements: list[str] = []

    @classmethod
    def local(cls) -> Spark:
        folder = Path(tempfile.mkdtemp(prefix="sparkivm"))
        here = Path.cwd()
        os.chdir(folder)
        try:
            parameters = {**PARAMETERS, "spark.sql.warehouse.dir": str(folder)}
            return cls(root_session(parameters).newSession(), folder)
        finally:
            os.chdir(here)

    def run(self, sql: str) -> DataFrame:
        self.statements.append(sql)
        try:
            return self.session.sql(sql)
        except PySparkException as error:
            raise self.error(error, sql) from error

    def fetch(self, sql: str) -> list[Row]:
        frame = self.run(sql)
        try:
            return [tuple(row) for row in frame.collect()]
        except PySparkException as error:
            raise self.error(error, sql) from error

    @staticmethod
    def error(error: PySparkException, sql: str) -> Exception:
        text = str(error)
        return Refused(text) if "IVM_" in text.split("JVM stacktrace")[0] else AssertionError(
            f"{text}\n{sql}"
        )

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        fields = self.run(sql).schema.fields
        return tuple((f.name, f.dataType.simpleString()) for f in fields)

    def create(self, case: Case) -> None:
        for name in list(self.tables):
            self.run(f"drop table if exists {name}")
        self.tables, self.compiled, self.pins = {}, {}, {}
        self.folder = Path(tempfile.mkdtemp(dir=self.folder))
        for table in case.tables:
            kinds = [k for _, k in table.columns]
            shown = ", ".join(
                f"col{i + 1} as {n}" for i, (n, _) in enumerate(table.columns)
            )
            nothing = (None,) * len(kinds)
            values = self.values(table.rows or (nothing,), table)
            self.run(
                f"create or replace table {table.full_name} using delta "
                f"location '{self.folder / table.name}' "
                "tblproperties ('delta.enableChangeDataFeed' = 'true') as "
                f"select {shown} from {values}" + ("" if table.rows else " where false")
            )
            self.tables[table.full_name] = table
            self.rows[table.full_name] = table.rows

    @staticmethod
    def values(rows: tuple[Row, ...], table: Table) -> str:
        kinds = [k for _, k in table.columns]
        return "values " + ", ".join(
            "(" + ", ".join(map(literal, row, kinds)) + ")" for row in rows
        )

    def write(self, name: str, rows: tuple[Row, ...]) -> None:
        """The cheapest statement that does it: the feed is a different one for each."""
        table = self.tables[f"{NAMESPACE}.{name}"]
        before, now = Counter(self.rows[table.full_name]), Counter(rows)
        gone, new = before - now, now - before
        self.rows[table.full_name] = rows
        if not gone and not new:
            return
        whole = all(gone[row] == before[row] for row in gone)
        if not gone:
            self.run(f"insert into {table.full_name} " + self.values((*new.elements(),), table))
        elif not new and whole:
            found = " or ".join(self.is_row(row, table) for row in gone)
            self.run(f"delete from {table.full_name} where {found}")
        elif whole and len(gone) == 1 and len(new) == 1 and gone.total() == new.total():
            (old,), (row,) = gone, new
            sets = ", ".join(
                f"{n} = {literal(v, k)}"
                for (n, k), v in zip(table.columns, row, strict=True)
            )
            self.run(f"update {table.full_name} set {sets} where {self.is_row(old, table)}")
        elif not rows:
            self.run(f"truncate table {table.full_name}")
        else:
            self.run(f"insert overwrite {table.full_name} " + self.values(rows, table))

    @staticmethod
    def is_row(row: Row, table: Table) -> str:
        return "(" + " and ".join(
            f"{n} <=> {literal(v, k)}" for (n, k), v in zip(table.columns, row, strict=True)
        ) + ")"

    def version(self, table: str) -> int:
        log = self.folder / self.tables[table].name / "_delta_log"
        return max(int(p.stem) for p in log.glob("*.json") if p.stem.isdigit())

    def binding(self, view: int) -> Binding:
        sources: dict[str, Source] = {}
        for name, columns in self.compiled[view].columns.items():
            table = exp.table_(self.tables[name].name, db=NAMESPACE)
            now = self.version(name)
            since = self.pins[view].get(name, now)
            sources[name] = (
                Unchanged(table, now)
                if since == now
                else Feed(table, now, since, columns, dict(self.tables[name].columns))
            )
        staged = {name: f"{name}_{view}" for name in ("delta", "recomputed")}
        return Binding(exp.table_(f"storage_{view}", db=NAMESPACE), sources, staged)

    def build(self, view: int, compiled: CompiledView, control: str) -> None:
        self.compiled[view] = compiled
        self.pins[view] = {}
        binding = self.binding(view)
        self.run(f"drop table if exists storage_{view}")
        self.run(
            f"create or replace table storage_{view} using delta "
            f"location '{self.folder}/storage_{view}' "
            "tblproperties ('delta.enableDeletionVectors' = 'true') as "
            + statement(compiled.build(control), binding)
        )
        facade = statement(compiled.facade(), binding)
        self.run(f"create or replace view facade_{view} as {facade}")
        ours, theirs = self.describe(f"table facade_{view}"), self.describe(compiled.sql)
        assert ours == theirs, f"facade {ours} is not {theirs}"
        self.pin(view)

    def stage(self, view: int, name: str, query: exp.Query, compiled: CompiledView) -> None:
        self.run(drop_stage(f"{name}_{view}"))
        self.run(stage_table(f"{name}_{view}", query, self.binding(view)))

    def row(self, view: int, query: exp.Query) -> dict[str, Any]:
        (row,) = self.run(statement(query, self.binding(view))).collect()
        return dict(row.asDict())

    def commit(self, view: int, statement_: exp.Expression) -> None:
        self.run(statement(statement_, self.binding(view)))

    def facade(self, view: int) -> list[Row]:
        return self.fetch(f"table facade_{view}")

    def query(self, sql: str) -> list[Row]:
        return self.fetch(sql)

    def controls(self, view: int) -> list[str]:
        rows = self.fetch(
            f"select {names.CONTROL} from storage_{view} where {names.CONTROL} is not null"
        )
        return [row[0] for row in rows]

    def changed(self, view: int) -> frozenset[str]:
        pins = self.pins[view]
        return frozenset(t for t in self.compiled[view].columns if self.version(t) != pins[t])

    def pin(self, view: int) -> None:
        self.pins[view] = {t: self.version(t) for t in self.compiled[view].columns}
        for name in ("delta", "recomputed"):
            self.run(drop_stage(f"{name}_{view}"))
