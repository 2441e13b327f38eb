"""What stands between a model and its rows changes: views, settings, variables, --empty."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.warehouse import FEED, Warehouse, model, sources, strategies

HOOK = "set spark.sql.session.timeZone={{ var('zone', 'UTC') }}"


class TestDrift:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        read = "from {{ target.schema }}."
        return {
            "raw.yml": sources({"keys": "k", "times": "id"}),
            "ordered.sql": model(f"select id, a, b {read}v_ordered"),
            "summed.sql": model(f"select sum(amount) as s, count(*) as n {read}v_typed"),
            "listed.sql": model("select k, v from t(keys)"),
            "grouped.sql": model("select k, sum(v) as v from t(keys) group by k"),
            "hours.sql": model("select id, hour(at) as h from t(times)", pre_hook=HOOK),
            "strict.sql": model("select id from t(times)", on_unsupported="error"),
        }

    @pytest.fixture(scope="class")
    def warehouse(self, project: Any) -> Warehouse:
        found = Warehouse.of(project)
        found.sql(
            f"CREATE TABLE t_ordered USING delta {FEED} AS SELECT 1 AS id, 10 AS a, 100 AS b",
            f"CREATE TABLE t_typed USING delta {FEED} AS SELECT 1 AS id, 1.01BD AS amount",
            "CREATE VIEW v_ordered AS SELECT * FROM t_ordered",
            "CREATE VIEW v_typed AS SELECT * FROM t_typed",
            f"CREATE TABLE keys USING delta {FEED} AS "
            r"SELECT '\u0024{spark.app.name}' AS k, 1 AS v UNION ALL SELECT 'z', 2",
            f"CREATE TABLE times USING delta {FEED} AS "
            "SELECT 1 AS id, TIMESTAMP '2026-01-01 10:00:00' AS at",
        )
        found.run()
        found.assert_exact("ordered", "summed", "listed", "grouped", "hours", "strict")
        return found

    def test_a_view_keeps_its_columns_and_types(self, warehouse: Warehouse) -> None:
        warehouse.sql(
            f"CREATE OR REPLACE TABLE t_ordered USING delta {FEED} AS "
            "SELECT 'x' AS new, 2 AS id, 200 AS b, 20 AS a",
            f"CREATE OR REPLACE TABLE t_typed USING delta {FEED} AS "
            "SELECT 1 AS id, 1.006D AS amount UNION ALL SELECT 2, 1.006D",
        )
        warehouse.run("ordered", "summed")
        warehouse.assert_exact("ordered", "summed")
        assert warehouse.rows("SELECT * FROM ordered") == [(2, 20, 200)]

    def test_a_key_that_looks_like_a_variable_of_spark(self, warehouse: Warehouse) -> None:
        warehouse.sql("UPDATE keys SET v = v + 10 WHERE k <> 'z'")
        answers = warehouse.run("listed", "grouped")
        assert set(strategies(answers).values()) == {"incremental"}
        warehouse.assert_exact("listed", "grouped")

    def test_a_setting_that_a_hook_made_is_part_of_the_model(self, warehouse: Warehouse) -> None:
        answers = warehouse.run("hours", args=("--vars", "zone: Asia/Tokyo"))
        assert "settings changed" in answers["hours"]["reason"]
        assert warehouse.rows("SELECT * FROM hours") == [(1, 19)]

    def test_empty_refuses_no_model_for_the_limit_that_dbt_adds(self, warehouse: Warehouse) -> None:
        warehouse.run("strict", args=("--empty",))
        assert warehouse.rows("SELECT * FROM strict") == []
        warehouse.run("strict")
        warehouse.assert_exact("strict")
