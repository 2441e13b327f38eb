"""A dbt project's warehouse as the tests see it: change tables, run models, compare with SQL."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from dbt.adapters.sparkivm.session import root_session
from dbt.tests.util import run_dbt
from pyspark.sql import SparkSession

FEED = "TBLPROPERTIES (delta.enableChangeDataFeed = true)"


def sources(tables: Mapping[str, str | list[str] | None]) -> str:
    """A properties file that declares `raw` tables of the target schema, with their keys."""
    declared = []
    for name, key in tables.items():
        meta = {"ivm": {"primary_key": key}} if key else {}
        declared.append({"name": name, "config": {"meta": meta}})
    raw = {"name": "raw", "schema": "{{ target.schema }}", "tables": declared}
    return yaml.safe_dump({"version": 2, "sources": [raw]})


def model(sql: str, **config: Any) -> str:
    """A maintained model; `t(x)` stands for a raw table, `m(x)` for another model."""
    settings = {"materialized": "incremental_ivm", "refresh": "incremental", **config}
    head = ", ".join(f"{k}={v!r}" for k, v in settings.items())
    return "{{ config(" + head + ") }}\n" + plain(sql)


def plain(sql: str) -> str:
    import re

    sql = re.sub(r"\bt\((\w+)\)", r"{{ source('raw', '\1') }}", sql)
    return re.sub(r"\bm\((\w+)\)", r"{{ ref('\1') }}", sql)


@dataclass
class Warehouse:
    project: Any
    spark: SparkSession

    @classmethod
    def of(cls, project: Any) -> Warehouse:
        session = root_session({}).newSession()
        session.sql(f"USE {project.test_schema}")
        return cls(project, session)

    @property
    def schema(self) -> str:
        return str(self.project.test_schema)

    def sql(self, *statements: str) -> None:
        for statement in statements:
            self.spark.sql(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.spark.sql(query).collect()]

    def run(self, *models: str, args: tuple[str, ...] = ()) -> dict[str, dict[str, Any]]:
        """`dbt run`; what each model answered."""
        select = ["--select", *models] if models else []
        results = run_dbt(["run", *select, *args])
        return {r.node.name: dict(r.adapter_response) for r in results}

    def fail(self, *models: str, args: tuple[str, ...] = ()) -> dict[str, str]:
        """A `dbt run` that is expected to fail; the messages."""
        results = run_dbt(["run", "--select", *models, *args], expect_pass=False)
        return {r.node.name: str(r.message) for r in results if r.status != "success"}

    def compiled(self, name: str) -> str:
        return self._target("compiled", name)

    def transcript(self, name: str) -> str:
        return self._target("run", name)

    def _target(self, kind: str, name: str) -> str:
        folder = Path(self.project.project_root) / "target" / kind / "test" / "models"
        return (folder / f"{name}.sql").read_text()

    def assert_exact(self, *names: str) -> None:
        for name in names:
            query = self.compiled(name)
            view, expected = f"SELECT * FROM `{name}`", f"SELECT * FROM (\n{query}\n)"
            missing = self.rows(f"{expected} EXCEPT ALL {view}")
            extra = self.rows(f"{view} EXCEPT ALL {expected}")
            assert not missing and not extra, f"{name}: missing {missing}, extra {extra}"
            kinds = [self.spark.sql(q).schema.simpleString() for q in (view, expected)]
            assert kinds[0] == kinds[1], name

    def control_rows(self, name: str) -> list[dict[str, Any]]:
        found = []
        for slot in self.storages(name):
            rows = self.rows(f"SELECT __ivm_ctl FROM {slot} WHERE __ivm_ctl IS NOT NULL")
            found += [json.loads(text) for (text,) in rows]
        return found

    def storages(self, name: str) -> list[str]:
        tables = [row[1] for row in self.rows(f"SHOW TABLES IN {self.schema}")]
        return sorted(t for t in tables if t.startswith(f"{name}__ivm"))

    def version(self, table: str) -> int:
        return int(self.rows(f"DESCRIBE HISTORY {table} LIMIT 1")[0][0])

    def path(self, table: str) -> Path:
        location = self.spark.sql(f"DESCRIBE DETAIL {table}").first()
        assert location is not None
        return Path(location["location"].removeprefix("file:"))


def strategies(answers: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    return {name: str(answer.get("strategy")) for name, answer in answers.items()}
