"""What stands behind a model, whatever was there before, and how few statements keep it."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import write_file

from tests.functional.warehouse import FEED, Warehouse, model, sources

WIDE = "select o.id, o.amount, c.name from t(orders) o join t(customers) c on o.customer = c.id"
SUMS = (
    "select c.name, count(*) as n, sum(o.amount) as amount "
    "from t(orders) o join t(customers) c on o.customer = c.id group by c.name"
)
KEYS = {"orders": "id", "customers": "id"}


def statements(transcript: str) -> list[str]:
    """The purposes, in order."""
    heads = [line for line in transcript.splitlines() if line.startswith("-- ")]
    return [head.split(". ", 1)[1].rsplit(" (", 1)[0] for head in heads]


class TestState:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "wide.sql": model(WIDE),
            "sums.sql": model(SUMS),
            "was_table.sql": model("select id from t(orders)"),
            "was_view.sql": model("select id from t(orders)"),
            "raw.yml": sources(KEYS),
        }

    @pytest.fixture(scope="class")
    def lake(self, project: Any) -> Warehouse:
        lake = Warehouse.of(project)
        lake.sql(
            f"CREATE TABLE orders (id INT, customer INT, amount DECIMAL(10,2)) USING delta {FEED}",
            f"CREATE TABLE customers (id INT, name STRING) USING delta {FEED}",
            "INSERT INTO orders VALUES (1, 1, 1.5), (2, 1, 2), (3, 2, NULL)",
            "INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bea')",
            "CREATE TABLE was_table USING delta AS SELECT 'old' AS what",
            "CREATE VIEW was_view AS SELECT 'old' AS what",
        )
        lake.run()
        return lake

    def change(self, lake: Warehouse) -> None:
        lake.sql(
            "INSERT INTO orders SELECT max(id) + 1, 2, 4 FROM orders",
            "UPDATE orders SET amount = 9 WHERE id = 2",
        )

    def rewrite(self, project: Any, name: str, text: str) -> None:
        write_file(text, project.project_root, "models", name)

    def test_leftovers_of_other_materializations(self, lake: Warehouse) -> None:
        lake.assert_exact("was_table", "was_view", "wide", "sums")
        kinds = {row[1] for row in lake.rows("SHOW VIEWS")}
        assert {"was_table", "was_view"} <= kinds

    @pytest.mark.parametrize("name", ["wide", "sums"])
    def test_statement_budget(self, lake: Warehouse, name: str) -> None:
        lake.run(name)
        before = lake.version(f"{name}__ivm")
        answer = lake.run(name)[name]
        reads = statements(lake.transcript(name))
        assert reads[0] == "state" and len(reads) == 3 == answer["statements"]
        assert sorted(reads[1:]) == [
            f"version of {lake.schema}.{table}" for table in ("customers", "orders")
        ]
        assert lake.version(f"{name}__ivm") == before

        lake.sql("ALTER TABLE orders SET TBLPROPERTIES (mine = 'x')", "OPTIMIZE customers")
        answer = lake.run(name)[name]
        assert answer["strategy"] == "nothing to do"
        assert lake.version(f"{name}__ivm") == before + 1
        run = statements(lake.transcript(name))
        assert [s for s in run if s not in reads and s != "look"] == ["move the versions"]

        self.change(lake)
        answer = lake.run(name)[name]
        assert answer["strategy"] == "incremental"
        assert lake.version(f"{name}__ivm") == before + 2
        run = statements(lake.transcript(name))
        assert len([s for s in run if s.startswith("commit")]) == 1
        assert len(run) <= len(reads) + 1 + 4, run
        lake.assert_exact(name)

    def test_full_refresh(self, lake: Warehouse) -> None:
        self.change(lake)
        answer = lake.run("wide", args=("--full-refresh",))["wide"]
        assert (answer["strategy"], answer["reason"]) == ("full rebuild", "--full-refresh")
        lake.assert_exact("wide")
        assert len(lake.storages("wide")) == len(lake.control_rows("wide")) == 1

    def test_changed_sql_and_back(self, project: Any, lake: Warehouse) -> None:
        self.change(lake)
        for sql in (WIDE.replace("o.amount", "o.amount + 1 as more"), WIDE):
            self.rewrite(project, "wide.sql", model(sql))
            answer = lake.run("wide")["wide"]
            assert answer["strategy"] == "full rebuild" and "SQL" in answer["reason"]
            lake.assert_exact("wide")
            assert len(lake.storages("wide")) == len(lake.control_rows("wide")) == 1

    def test_changed_keys(self, project: Any, lake: Warehouse) -> None:
        self.change(lake)
        for keys in ({"orders": None, "customers": "id"}, KEYS):
            self.rewrite(project, "raw.yml", sources(keys))
            answer = lake.run("wide")["wide"]
            assert answer["strategy"] == "full rebuild" and "keys" in answer["reason"]
            lake.assert_exact("wide")
            assert len(lake.storages("wide")) == len(lake.control_rows("wide")) == 1

    def test_dropped_storage_and_facade(self, lake: Warehouse) -> None:
        storage = lake.storages("sums")[0]
        lake.sql("DROP VIEW sums")
        answer = lake.run("sums")["sums"]
        assert answer["strategy"] != "full rebuild"
        lake.assert_exact("sums")
        lake.sql(f"DROP TABLE {storage}")
        answer = lake.run("sums")["sums"]
        assert answer["strategy"] == "full rebuild"
        lake.assert_exact("sums")

    def test_control_rows_that_are_not_one(self, lake: Warehouse) -> None:
        for sql, found in (
            ("INSERT INTO {0} SELECT * FROM {0} WHERE __ivm_ctl IS NOT NULL", "2 control rows"),
            ("DELETE FROM {0} WHERE __ivm_ctl IS NOT NULL", "0 control rows"),
            ("UPDATE {0} SET __ivm_ctl = '[1]' WHERE __ivm_ctl IS NOT NULL", "another version"),
        ):
            lake.sql(sql.format(lake.storages("sums")[0]))
            answer = lake.run("sums")["sums"]
            assert answer["strategy"] == "full rebuild" and found in answer["reason"]
            lake.assert_exact("sums")
            assert len(lake.control_rows("sums")) == 1

    def test_a_table_for_a_while(self, project: Any, lake: Warehouse) -> None:
        self.rewrite(project, "sums.sql", model(SUMS, materialized="table"))
        lake.run("sums")
        self.change(lake)
        self.rewrite(project, "sums.sql", model(SUMS))
        lake.run("sums")
        lake.assert_exact("sums")
        assert "sums" in {row[1] for row in lake.rows("SHOW VIEWS")}
        assert len(lake.control_rows("sums")) == 1

    def test_a_rebuild_can_be_forbidden(self, project: Any, lake: Warehouse) -> None:
        self.rewrite(project, "wide.sql", model(WIDE + " where o.id > 1", full_refresh=False))
        message = lake.fail("wide")["wide"]
        assert "would have to be rebuilt" in message and "full_refresh: false" in message
        self.rewrite(project, "wide.sql", model(WIDE))
        lake.run("wide")
        lake.assert_exact("wide")
