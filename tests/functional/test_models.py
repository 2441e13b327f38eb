"""Views of the grammar, maintained by `dbt run` over batches of conflicting changes."""

from __future__ import annotations

from typing import Any

import pytest
from dbt.tests.util import run_dbt, run_dbt_and_capture

from tests.functional.warehouse import FEED, Warehouse, model, plain, sources, strategies

VIEWS = {
    "wide": """
        with big as (select * from t(orders) where amount > 0 or amount is null)
        select o.amount * coalesce(o.qty, 1) as price, upper(c.name) as name, c.country, o.day
        from big o join t(customers) c on o.customer_id = c.id""",
    "daily": """
        select o.day, c.country, count(*) as orders, count(o.amount) as priced,
          sum(o.amount) as revenue, avg(o.qty) as quantity, sum(o.qty) / count(*) as each,
          count(*) filter (where o.amount > 10) as large,
          sum(o.amount) filter (where c.name is not null) as named
        from t(orders) o join t(customers) c on o.customer_id = c.id
        group by o.day, c.country having count(*) > 0 and coalesce(sum(o.qty), 1) > 0""",
    "total": "select count(*) as n, sum(amount) as amount, avg(qty) as qty from t(orders)",
    "both": """
        select 'order' as what, customer_id as n from t(orders)
        union all select kind, n from t(events)
        union all select kind, n + 1 from t(events) where n > 1""",
    "pairs": """
        select a.id as one, b.name from t(customers) a
        join t(customers) b on a.country = b.country and a.id < b.id""",
    "bag": "select kind, n from t(events)",
    "through": """
        select s.price, s.label, count(*) as n from m(passing) s
        join t(customers) c on s.customer_id = c.id group by s.price, s.label""",
    "names": """
        with c as (
          select id, struct(qty as id, day) as input, array(qty) as l from t(orders))
        select input.id as q, to_json(struct(id, input)) as j, transform(l, id -> ID + c.id) as l,
          hash(*) as h
        from c where id > 0""",
    "stacked": "select country, sum(price) as price, count(*) as n from m(wide) group by country",
    "on_groups": "select country, day, revenue from m(daily) where orders > 1",
}
STAGING = r"""{{ config(materialized='view') }}
select id, customer_id, amount as price, -- "quoted", 'quoted', \ and so on
  case when qty is null then 'it\'s "nothing"\n'
    else regexp_replace('a.b', '\\.', '\t') end as label
from {{ source('raw', 'orders') }}"""

ROUNDS = {
    "conflicting changes of every table": [
        "INSERT INTO orders VALUES (10, 1, 5.5, 1, DATE'2026-01-02'), (11, 9, 7, 2, NULL)",
        "UPDATE orders SET amount = amount + 20, customer_id = 2 WHERE id IN (1, 2)",
        "DELETE FROM orders WHERE id = 3",
        "INSERT INTO orders VALUES (3, 2, 1.25, NULL, DATE'2026-01-01')",
        "UPDATE customers SET country = NULL WHERE id = 1",
        "DELETE FROM customers WHERE id = 2",
        "INSERT INTO customers VALUES (2, 'Beth', 'de'), (9, 'Late', 'fr')",
        "DELETE FROM events WHERE kind = 'twice'",
        "INSERT INTO events VALUES ('twice', 1), ('new', 2), ('new', 2), (NULL, NULL)",
    ],
    "NULLs, copies, and groups that die": [
        "UPDATE orders SET day = NULL, qty = NULL WHERE id = 1",
        "UPDATE orders SET amount = NULL WHERE id = 10",
        "DELETE FROM customers WHERE country IS NULL",
        "INSERT INTO customers VALUES (1, NULL, 'de'), (12, 'Zoe', 'de')",
        "INSERT INTO events SELECT * FROM events",
        "UPDATE orders SET customer_id = 12 WHERE customer_id = 9",
    ],
    "an emptied table": ["TRUNCATE TABLE orders", "DELETE FROM events WHERE n = 2"],
    "back from empty": ["INSERT INTO orders VALUES (1, 2, 3.5, 1, DATE'2026-01-01')"],
}
FIRST = [
    f"CREATE TABLE customers (id INT, name STRING, country STRING) USING delta {FEED}",
    "CREATE TABLE orders (id INT, customer_id INT, amount DECIMAL(10,2), qty INT, day DATE) "
    f"USING delta {FEED}",
    f"CREATE TABLE events (kind STRING, n INT) USING delta {FEED}",
    "INSERT INTO customers VALUES (1, 'Ann', 'fr'), (2, 'Bea', 'de'), (4, 'Dan', 'de')",
    "INSERT INTO orders VALUES (1, 1, 10, 1, DATE'2026-01-01'), (2, 1, 20, 2, DATE'2026-01-01'), "
    "(3, 2, 30, 3, DATE'2026-01-02'), (4, 4, NULL, NULL, DATE'2026-01-02'), (5, 4, -1, 1, NULL)",
    "INSERT INTO events VALUES ('once', 1), ('twice', 1), ('twice', 1), (NULL, 2)",
]


class TestViews:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            **{f"{name}.sql": model(sql) for name, sql in VIEWS.items()},
            "staging.sql": STAGING,
            "passing.sql": plain(
                "{{ config(materialized='ephemeral') }} select * from m(staging) where id <> 99"
            ),
            "raw.yml": sources({"customers": "id", "orders": "id", "events": None}),
        }

    def test_every_round_is_incremental_and_exact(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        warehouse.sql(*FIRST)
        built = warehouse.run()
        assert {n: s for n, s in strategies(built).items() if n != "staging"} == dict.fromkeys(
            VIEWS, "full rebuild"
        )
        assert {built[n]["reason"] for n in VIEWS} == {"first build"}
        warehouse.assert_exact(*VIEWS)
        seen = set[str]()
        for what, changes in ROUNDS.items():
            warehouse.sql(*changes)
            answers = warehouse.run(*VIEWS)
            assert set(strategies(answers).values()) <= {"incremental", "nothing to do"}, what
            seen |= {n for n in VIEWS if answers[n]["strategy"] == "incremental"}
            warehouse.assert_exact(*VIEWS)
        assert seen == set(VIEWS)
        answers = warehouse.run(*VIEWS)
        assert set(strategies(answers).values()) == {"nothing to do"}, answers
        for name in VIEWS:
            assert len(warehouse.control_rows(name)) == 1
        assert not [r for r in warehouse.rows("SHOW VIEWS") if "stage" in r[1]]

    def test_the_statements_of_a_run_are_kept(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        warehouse.sql("INSERT INTO orders VALUES (77, 2, 3.5, 1, DATE'2026-01-01')")
        warehouse.run("wide")
        kept = warehouse.transcript("wide")
        assert "REPLACE WHERE" in kept and "TABLE_CHANGES" in kept and "-- 1. state" in kept
        warehouse.assert_exact("wide")

    def test_explain(self, project: Any) -> None:
        _, printed = run_dbt_and_capture(
            ["run-operation", "ivm_explain", "--args", "{model: through}"]
        )
        for part in ("plan", "base tables", "key (id) from meta.ivm", "MERGE INTO", "commit ("):
            assert part in printed, part
        assert f"{project.test_schema}.orders" in printed
        assert "staging" not in printed.split("base tables")[1].split("fk-graph")[0]


BROKEN = """
version: 2
models:
  - name: keyed_view
    description: "a view"
    config: {persist_docs: {relation: true, columns: true}}
    columns:
      - {name: id, description: "it's the \\"key\\""}
"""


class TestKeysAndConstructs:
    @pytest.fixture(scope="class")
    def models(self) -> dict[str, str]:
        return {
            "keyed_view.sql": model("select id, name from t(things) where name <> 'x'"),
            "summed.sql": model("select name, count(*) as n from t(things) group by name"),
            "ranked.sql": model("select id, rank() over (order by name) as r from t(things)"),
            "once.sql": model("select distinct name from t(things)"),
            "refused.sql": model(
                "select id, rank() over (order by name) as r from t(things)",
                on_unsupported="error",
            ),
            "raw.yml": sources({"things": "id"}),
            "models.yml": BROKEN,
        }

    def test_a_violated_key_is_named_and_harmless(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        warehouse.sql(
            f"CREATE TABLE things (id INT, name STRING) USING delta {FEED}",
            "INSERT INTO things VALUES (1, 'a'), (1, 'b'), (2, 'c'), (3, 'd')",
        )
        _, log = run_dbt_and_capture(["run", "--select", "keyed_view", "summed"])
        named = f"key (id) of {project.test_schema}.things, declared in meta.ivm, is violated"
        assert log.count(named) == 2 and "id=1, copies=2" in log
        warehouse.assert_exact("keyed_view", "summed")
        steps = {
            "one of two copies goes": ["DELETE FROM things WHERE name = 'b'"],
            "a second row with the key of a stored one": ["INSERT INTO things VALUES (2, 'e')"],
            "two new rows with one new key": ["INSERT INTO things VALUES (9, 'y'), (9, 'z')"],
            "two become one": [
                "DELETE FROM things WHERE id = 9",
                "INSERT INTO things VALUES (9, 'w')",
            ],
        }
        for what, changes in steps.items():
            warehouse.sql(*changes)
            results, log = run_dbt_and_capture(["run", "--select", "keyed_view"])
            assert results[0].adapter_response["strategy"] == "incremental", what
            assert "violated" in log, what
            warehouse.assert_exact("keyed_view")
        comments = warehouse.rows("DESCRIBE keyed_view")
        assert comments[0][2] == 'it\'s the "key"'

    def test_what_is_not_maintained_is_rebuilt_and_named(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        for _ in range(2):
            answers = warehouse.run("ranked", "once")
            assert set(strategies(answers).values()) == {"full rebuild"}
            assert "window" in answers["ranked"]["reason"].lower()
            assert "distinct" in answers["once"]["reason"].lower()
            warehouse.assert_exact("ranked", "once")
            warehouse.sql("INSERT INTO things VALUES (50, 'm')")

    def test_refused_before_anything_is_written(self, project: Any) -> None:
        warehouse = Warehouse.of(project)
        message = warehouse.fail("refused")["refused"]
        assert "cannot be maintained incrementally" in message and "rank()" in message.lower()
        assert not warehouse.storages("refused")
        assert not [r for r in warehouse.rows("SHOW TABLES") if r[1] == "refused"]

    def test_explain_says_why_not(self, project: Any) -> None:
        _, printed = run_dbt_and_capture(
            ["run-operation", "ivm_explain", "--args", "{model: ranked}"]
        )
        assert "rebuilt in full on every run" in printed and "rank()" in printed.lower()
        results = run_dbt(
            ["run-operation", "ivm_explain", "--args", "{model: nothing}"], expect_pass=False
        )
        assert results is not None
