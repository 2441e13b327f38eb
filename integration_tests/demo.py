"""`make demo`: a small shop on Delta, a day of changes, and models that follow them exactly."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CDF = "USING delta TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
CUSTOMERS, PRODUCTS, ORDERS, VISITS = 2_000, 300, 40_000, 20_000
CITIES = "array('Athens', 'Bern', 'Cork', 'Delft', 'Essen', 'Faro', 'Ghent')"
CATEGORIES = "array('books', 'games', 'garden', 'kitchen', 'music', 'sport')"

WAREHOUSE = (
    "CREATE SCHEMA IF NOT EXISTS shop",
    f"""CREATE TABLE shop.customers {CDF} AS
        SELECT id customer_id, concat('customer ', id) name,
               IF(id % 50 = 0, NULL, {CITIES}[id % 7]) city FROM range({CUSTOMERS})""",
    f"""CREATE TABLE shop.products {CDF} AS
        SELECT id product_id, concat('product ', id) title, {CATEGORIES}[id % 6] category
        FROM range({PRODUCTS})""",
    # Some orders belong to customers who are not there yet.
    f"""CREATE TABLE shop.orders {CDF} AS
        SELECT id order_id, pmod(xxhash64(id, 1), {CUSTOMERS + 40}) customer_id,
               date_add(DATE '2026-01-01', CAST(id * 300 DIV {ORDERS} AS INT)) order_date,
               element_at(array('paid', 'paid', 'paid', 'draft', 'returned'),
                          CAST(1 + pmod(xxhash64(id, 2), 5) AS INT)) status
        FROM range({ORDERS})""",
    f"""CREATE TABLE shop.order_items {CDF} AS
        SELECT o.id order_id, CAST(l.id AS INT) line_number,
               pmod(xxhash64(o.id, l.id, 3), {PRODUCTS}) product_id,
               CAST(1 + pmod(xxhash64(o.id, l.id, 4), 5) AS INT) quantity,
               CAST(1 + pmod(xxhash64(o.id, l.id, 5), 9000) / 100 AS DECIMAL(8,2)) unit_price
        FROM range({ORDERS}) o JOIN range(1, 4) l ON l.id <= 1 + pmod(xxhash64(o.id, 6), 3)""",
    f"""CREATE TABLE shop.store_visits {CDF} AS
        SELECT IF(id % 3 = 0, NULL, pmod(xxhash64(id), 200)) customer_id,
               element_at(array('north', 'south'), CAST(1 + id % 2 AS INT)) store,
               date_add(DATE '2026-01-01', CAST(id % 60 AS INT)) visit_date
        FROM range({VISITS})""",
)

A_DAY = (
    # New orders, and lines for them.
    f"""INSERT INTO shop.orders SELECT {ORDERS} + id, id % {CUSTOMERS}, DATE '2026-10-28', 'paid'
        FROM range(120)""",
    f"""INSERT INTO shop.order_items SELECT {ORDERS} + id, 1, id % {PRODUCTS}, 2, 19.90
        FROM range(120)""",
    # Returned, corrected, cancelled.
    "UPDATE shop.orders SET status = 'returned' WHERE order_id % 997 = 5",
    "UPDATE shop.order_items SET quantity = quantity + 1 WHERE order_id % 1999 = 7",
    "DELETE FROM shop.order_items WHERE order_id % 2999 = 11",
    "DELETE FROM shop.orders WHERE order_id % 4999 = 13",
    # The late dimension rows: their orders arrived long ago.
    f"""INSERT INTO shop.customers SELECT {CUSTOMERS} + id, concat('late ', id), 'Cork'
        FROM range(20)""",
    "UPDATE shop.customers SET city = 'Delft' WHERE customer_id IN (3, 50, 77)",
    "UPDATE shop.products SET category = 'music' WHERE product_id = 12",
    # One of several equal rows goes, another comes twice, a no-op update changes nothing.
    "DELETE FROM shop.store_visits WHERE visit_date = DATE '2026-01-05' AND store = 'north'",
    """INSERT INTO shop.store_visits VALUES (1, 'south', DATE '2026-02-02'),
        (1, 'south', DATE '2026-02-02')""",
    "UPDATE shop.products SET title = title WHERE product_id < 50",
)


class Demo:
    def __init__(self) -> None:
        from dbt.cli.main import dbtRunner

        self.dbt = dbtRunner()
        self.wrong: list[str] = []

    def invoke(self, *arguments: str) -> Any:
        folders = ["--project-dir", str(HERE), "--profiles-dir", str(HERE)]
        result = self.dbt.invoke([*arguments, *folders, "--quiet"])
        if result.exception:
            raise SystemExit(f"dbt {' '.join(arguments)}: {result.exception}")
        return result

    def session(self) -> Any:
        from dbt.adapters.sparkivm.session import root_session

        return root_session({}).newSession()

    def run(self, title: str) -> None:
        print(f"\n{title}\n", flush=True)
        results = [r for r in self.invoke("run").result if _maintained(r)]
        print(f"  {'model':20} {'strategy':14} {'changed':>18} {'seconds':>8}  exact  why")
        for result in results:
            response = result.adapter_response
            if result.status != "success":
                print(f"  {result.node.name:20} FAILED: {result.message}")
                self.wrong.append(result.node.name)
                continue
            exact = self.exact(result.node)
            if not exact:
                self.wrong.append(result.node.name)
            changed = "+{rows_inserted} -{rows_deleted} ~{rows_updated}".format(**response)
            print(
                f"  {result.node.name:20} {response['strategy']:14} {changed:>18} "
                f"{response['seconds']:8.1f}  {'yes' if exact else 'NO':5}  {response['reason']}",
                flush=True,
            )

    def exact(self, node: Any) -> bool:
        """The view against its own query, as bags, both ways."""
        spark = self.session()
        shown, query = f"SELECT * FROM {node.relation_name}", node.compiled_code
        return all(
            spark.sql(f"({a}) EXCEPT ALL ({b})").isEmpty()
            for a, b in ((shown, query), (query, shown))
        )


def _maintained(result: Any) -> bool:
    return bool(result.node.config.materialized == "incremental_ivm")


def main() -> int:
    scratch = Path(tempfile.mkdtemp(prefix="retail-"))
    os.environ["RETAIL_SCRATCH"] = str(scratch)
    os.chdir(scratch)
    try:
        demo = Demo()
        demo.invoke("debug")
        spark = demo.session()
        print("building a shop on Delta ...", flush=True)
        for statement in WAREHOUSE:
            spark.sql(statement)
        demo.run("dbt run: the first one builds")
        for statement in A_DAY:
            spark.sql(statement)
        demo.run("a day of inserts, updates, deletes and late rows, then dbt run again")
        demo.run("dbt run once more: nothing has changed")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    if demo.wrong:
        print(f"\nNOT EXACT: {', '.join(sorted(set(demo.wrong)))}")
        return 1
    print("\nevery view equals its query")
    return 0


if __name__ == "__main__":
    sys.exit(main())
