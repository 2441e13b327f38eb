"""What stands between a model and its rows changes: views, settings, variables, --empty."""

from __future__ import annotations

from typing import Any

import pytest

from tests.functional.warehouse import FEED, Warehouse, model, sources, strategies

KEYED = {"twins": "id", "digits": "id", "turning": "id"}
HOOK = "set spark.sql.session.timeZone={{ var('zone', 'UTC') }}"


class TestDrift:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        read = "from {{ target.schema }}."
        return {
            "raw.yml": sources({"keys": "k", "times": "id", "padded": "c", **KEYED}),
            "padded_rows.sql": model("select c, v from t(padded)"),
            "padded_groups.sql": model("select c, sum(v) as v from t(padded) group by c"),
            "ordered.sql": model(f"select id, a, b {read}v_ordered"),
            "summed.sql": model(f"select sum(amount) as s, count(*) as n {read}v_typed"),
            "listed.sql": model("select k, v from t(keys)"),
            "grouped.sql": model("select k, sum(v) as v from t(keys) group by k"),
            "hours.sql": model("select id, hour(at) as h from t(times)", pre_hook=HOOK),
            "strict.sql": model("select id from t(times)", on_unsupported="error"),
            "twins_shown.sql": model(
                "select id, cast(x as string) as x, map_keys(m) as k from t(twins)"
            ),
            "digits_summed.sql": model("select g, sum(d) as s from t(digits) group by g"),
            "of_a_table.sql": model("select id, v from t(turning)"),
        }

    @pytest.fixture(scope="class")
    def lake(self, project: Any) -> Warehouse:
        found = Warehouse.of(project)
        found.sql(
            f"CREATE TABLE t_ordered USING delta {FEED} AS SELECT 1 AS id, 10 AS a, 100 AS b",
            f"CREATE TABLE t_typed USING delta {FEED} AS SELECT 1 AS id, 1.01BD AS amount",
            "CREATE VIEW v_ordered AS SELECT * FROM t_ordered",
            "CREATE VIEW v_typed AS SELECT * FROM t_typed",
            f"CREATE TABLE keys USING delta {FEED} AS "
            r"SELECT '\u0024{spark.app.name}' AS k, 1 AS v UNION ALL SELECT 'z', 2",
            f"CREATE TABLE padded (c CHAR(5), v INT) USING delta {FEED}",
            "INSERT INTO padded VALUES ('a', 1), ('b', 2)",
            f"CREATE TABLE twins USING delta {FEED} AS SELECT 1 AS id, 0.0D AS x, "
            "map('a', 1) AS m UNION ALL SELECT 2, 1.0D, map('b', 1, 'a', 2)",
            f"CREATE TABLE digits (id INT, d DECIMAL(38,0), g INT) USING delta {FEED}",
            f"INSERT INTO digits VALUES (1, -{'6' + 37 * '0'}, 1), (2, 5, 1), (3, 7, 2)",
            f"CREATE TABLE turning USING delta {FEED} AS SELECT 1 AS id, 2 AS v",
            f"CREATE TABLE times USING delta {FEED} AS "
            "SELECT 1 AS id, TIMESTAMP '2026-01-01 10:00:00' AS at",
        )
        found.run()
        found.assert_exact("ordered", "summed", "listed", "grouped", "hours", "strict")
        return found

    def test_a_view_keeps_its_columns_and_types(self, lake: Warehouse) -> None:
        lake.sql(
            f"CREATE OR REPLACE TABLE t_ordered USING delta {FEED} AS "
            "SELECT 'x' AS new, 2 AS id, 200 AS b, 20 AS a",
            f"CREATE OR REPLACE TABLE t_typed USING delta {FEED} AS "
            "SELECT 1 AS id, 1.006D AS amount UNION ALL SELECT 2, 1.006D",
        )
        lake.run("ordered", "summed")
        lake.assert_exact("ordered", "summed")
        assert lake.rows("SELECT * FROM ordered") == [(2, 20, 200)]

    def test_a_key_that_looks_like_a_variable_of_spark(self, lake: Warehouse) -> None:
        lake.sql("UPDATE keys SET v = v + 10 WHERE k <> 'z'")
        answers = lake.run("listed", "grouped")
        assert set(strategies(answers).values()) == {"incremental"}
        lake.assert_exact("listed", "grouped")

    def test_a_key_that_is_padded(self, lake: Warehouse) -> None:
        lake.sql("UPDATE padded SET v = 9 WHERE c = 'a'", "INSERT INTO padded VALUES ('c ', 3)")
        answers = lake.run("padded_rows", "padded_groups")
        assert set(strategies(answers).values()) == {"incremental"}
        lake.assert_exact("padded_rows", "padded_groups")

    def test_values_that_are_equal_but_not_the_same(self, lake: Warehouse) -> None:
        lake.sql(
            "UPDATE twins SET x = -0.0D WHERE id = 1",
            "UPDATE twins SET m = map('a', 2, 'b', 1) WHERE id = 2",
            "INSERT INTO twins VALUES (3, -0.0D, map('q', 1, 'p', 2, 'aa', 3)), (4, NULL, NULL)",
        )
        assert lake.run("twins_shown")["twins_shown"]["strategy"] == "incremental"
        lake.assert_exact("twins_shown")
        assert ("-0.0", ["q", "p", "aa"]) in lake.rows("SELECT x, k FROM twins_shown")

    def test_changes_whose_sum_overflows_where_that_of_the_rows_does_not(
        self, lake: Warehouse
    ) -> None:
        lake.sql("UPDATE digits SET d = -d WHERE id = 1", "UPDATE digits SET d = 8 WHERE id = 3")
        assert lake.run("digits_summed")["digits_summed"]["strategy"] == "incremental"
        lake.assert_exact("digits_summed")

    def test_a_table_that_became_a_view(self, lake: Warehouse) -> None:
        lake.sql(
            "ALTER TABLE turning RENAME TO turned",
            "INSERT INTO turned VALUES (5, 6)",
            "CREATE VIEW turning AS SELECT * FROM turned",
        )
        answer = lake.run("of_a_table")["of_a_table"]
        assert answer["strategy"] == "full rebuild" and "as before" in answer["reason"]
        lake.assert_exact("of_a_table")

    def test_a_setting_that_a_hook_made_is_part_of_the_model(self, lake: Warehouse) -> None:
        answers = lake.run("hours", args=("--vars", "zone: Asia/Tokyo"))
        assert "settings changed" in answers["hours"]["reason"]
        assert lake.rows("SELECT * FROM hours") == [(1, 19)]

    def test_empty_refuses_no_model_for_the_limit_that_dbt_adds(self, lake: Warehouse) -> None:
        lake.run("strict", args=("--empty",))
        assert lake.rows("SELECT * FROM strict") == []
        lake.run("strict")
        lake.assert_exact("strict")
