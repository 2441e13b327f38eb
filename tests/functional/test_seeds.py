"""Seeds arrive exactly as written, and a second load replaces the rows in one commit."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any

import pytest
from dbt.tests.util import run_dbt

PEOPLE = r"""id,name,big,born,seen,active,amount,note
1,O'Brien,9007199254740993,2020-01-31,2020-01-31 10:11:12,true,1.10,"say ""hi"" \ $x ${env:HOME} %s"
2,Ünïcödé 😀,-9223372036854775808,1582-10-15,2020-02-29 00:00:00,false,-0.5,"two
lines; -- no comment"
3,,,,,,,
4,'',0,9999-12-31,1970-01-01 00:00:00,true,1e3,/* {{ x }} */
"""
EXPECTED = [
    (
        1,
        "O'Brien",
        9007199254740993,
        datetime.date(2020, 1, 31),
        "2020-01-31 10:11:12",
        True,
        1.1,
        'say "hi" \\ $x ${env:HOME} %s',
    ),
    (
        2,
        "Ünïcödé 😀",
        -9223372036854775808,
        datetime.date(1582, 10, 15),
        "2020-02-29 00:00:00",
        False,
        -0.5,
        "two\nlines; -- no comment",
    ),
    (3, None, None, None, None, None, None, None),
    (4, "''", 0, datetime.date(9999, 12, 31), "1970-01-01 00:00:00", True, 1e3, "/* {{ x }} */"),
]
PROPERTIES = """
version: 2
seeds:
  - name: typed
    config:
      column_types: {code: string, price: "decimal(38, 10)"}
      tblproperties: {delta.enableChangeDataFeed: "true"}
"""


def read(project: Any, sql: str) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in project.run_sql(sql, fetch="all")]


def history(project: Any, table: str) -> list[str]:
    found = project.run_sql(f"describe history {{schema}}.{table}", fetch="all")
    return [row["operation"] for row in sorted(found, key=lambda row: row["version"])]


class TestSeeds:
    @pytest.fixture(scope="class")
    def seeds(self) -> dict[str, str]:
        return {
            "people.csv": PEOPLE,
            "typed.csv": "code,price\n007,12345678901234567890.0123456789\n,\n",
            "hollow.csv": "id,name\n",
            "seeds.yml": PROPERTIES,
        }

    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "rebuilt.sql": "{{ config(materialized='table') }} select * from {{ ref('people') }}"
        }

    @pytest.fixture(scope="class")
    def snapshots(self) -> dict[str, str]:
        return {
            "kept.sql": "{% snapshot kept %}{{ config(unique_key='id', strategy='check', "
            "check_cols=['name']) }} select id, name from {{ ref('people') }}{% endsnapshot %}"
        }

    def test_values_are_exact(self, project: Any) -> None:
        run_dbt(["seed"])
        people = read(
            project,
            "select id, name, big, born, cast(seen as string), active, amount, note "
            "from {schema}.people order by id",
        )
        assert people == EXPECTED
        types = read(project, "describe {schema}.people")
        assert [row[1] for row in types] == [
            "bigint", "string", "bigint", "date", "timestamp", "boolean", "double", "string",
        ]  # fmt: skip

    def test_declared_types_and_properties(self, project: Any) -> None:
        run_dbt(["seed"])
        typed = read(project, "select code, cast(price as string) from {schema}.typed order by 1")
        assert typed == [(None, None), ("007", "12345678901234567890.0123456789")]
        properties = dict(read(project, "show tblproperties {schema}.typed"))
        assert properties["delta.enableChangeDataFeed"] == "true"

    def test_an_empty_seed_is_an_empty_table(self, project: Any) -> None:
        run_dbt(["seed"])
        assert read(project, "select * from {schema}.hollow") == []

    def test_a_second_load_continues_the_log(self, project: Any) -> None:
        run_dbt(["seed", "--full-refresh"])
        before = len(history(project, "people"))
        seed = Path(project.project_root) / "seeds" / "people.csv"
        seed.write_text("id,name,extra\n1,a,x\n", encoding="utf-8")
        run_dbt(["seed"])
        assert read(project, "select * from {schema}.people") == [(1, "a", "x")]
        operations = history(project, "people")
        assert len(operations) == before + 1
        assert set(operations) == {"CREATE OR REPLACE TABLE AS SELECT"}
        seed.write_text(PEOPLE, encoding="utf-8")

    def test_a_large_seed_takes_several_statements(
        self, project: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from dbt.adapters.sparkivm import impl, seeds

        monkeypatch.setattr(
            impl, "json_literals", lambda rows: seeds.json_literals(rows, limit=100)
        )
        run_dbt(["seed", "--select", "people"])
        assert read(project, "select count(*), sum(id) from {schema}.people") == [(4, 10)]
        assert history(project, "people")[-1] == "WRITE"

    def test_tables_and_snapshots_are_delta_and_replaced(self, project: Any) -> None:
        run_dbt(["seed"])
        run_dbt(["run"])
        run_dbt(["run"])
        assert history(project, "rebuilt") == ["CREATE OR REPLACE TABLE AS SELECT"] * 2
        run_dbt(["snapshot"])
        run_dbt(["snapshot"])
        assert read(project, "select count(*) from {schema}.kept") == [(4,)]
        assert history(project, "kept")[0] == "CREATE OR REPLACE TABLE AS SELECT"
