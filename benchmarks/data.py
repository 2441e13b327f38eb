"""A generated star: a fact table of any size and three dimensions, and changes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ITEMS, ADDRESSES, DAYS = 102_000, 50_000, 1_826
CDF = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"


@dataclass(frozen=True)
class Star:
    spark: Any
    rows: int

    def create(self) -> None:
        """Facts in the order of time, as they arrive; dates are hence clustered, items are not."""
        self.spark.sql("CREATE SCHEMA IF NOT EXISTS raw")
        self._table(
            "item",
            f"""SELECT CAST(id AS INT) item_sk, concat('ITEM', lpad(id, 8, '0')) item_id,
                concat('category ', id % 40) category FROM range({ITEMS})""",
        )
        self._table(
            "address",
            f"""SELECT CAST(id AS INT) address_sk, concat('city ', id % 900) city,
                CAST(id % 7 - 10 AS INT) gmt_offset FROM range({ADDRESSES})""",
        )
        self._table(
            "calendar",
            f"""SELECT CAST(id AS INT) date_sk, CAST(2020 + id DIV 366 AS INT) year,
                CAST(1 + (id % 366) DIV 31 AS INT) month FROM range({DAYS})""",
        )
        self._table("fact", self._facts(f"range({self.rows})", 0))

    def _table(self, name: str, query: str) -> None:
        self.spark.sql(f"DROP TABLE IF EXISTS raw.{name}")
        self.spark.sql(f"CREATE TABLE raw.{name} USING delta {CDF} AS {query}")

    def _facts(self, ids: str, salt: int) -> str:
        day = f"CAST(least(id * {DAYS} DIV {self.rows}, {DAYS - 1}) AS INT)"
        return f"""SELECT id sale_id,
            CAST(pmod(xxhash64(id, 1, {salt}), {ITEMS}) AS INT) item_sk,
            CAST(pmod(xxhash64(id, 2, {salt}), {ADDRESSES}) AS INT) address_sk, {day} date_sk,
            CAST(1 + pmod(xxhash64(id, 3, {salt}), 9) AS INT) quantity,
            CAST(pmod(xxhash64(id, 4, {salt}), 10000) / 100 AS DECIMAL(10,2)) price FROM {ids}"""

    def change(self, kind: str, share: float, salt: int) -> None:
        """Half updates, a quarter deletes, a quarter inserts, in one commit."""
        wanted = max(4, int(self.rows * share))
        last = int(self.spark.sql("SELECT max(sale_id) m FROM raw.fact").collect()[0]["m"])
        new = f"range({last + 1}, {last + 1 + wanted // 4})"
        if kind == "recent":
            touched = f"sale_id > {last - wanted * 3 // 4}"
        else:
            step = self.rows // (wanted * 3 // 4)
            touched = f"pmod(xxhash64(sale_id, {salt}), {step}) = 0"
        self.spark.sql(f"""
            MERGE INTO raw.fact t USING (
              SELECT *, pmod(xxhash64(sale_id, {salt}, 7), 3) = 0 gone FROM raw.fact WHERE {touched}
              UNION ALL SELECT *, false FROM ({self._facts(new, salt)})
            ) s ON t.sale_id = s.sale_id
            WHEN MATCHED AND s.gone THEN DELETE
            WHEN MATCHED THEN UPDATE SET price = s.price + 1, quantity = s.quantity + 1
            WHEN NOT MATCHED THEN INSERT (sale_id, item_sk, address_sk, date_sk, quantity, price)
              VALUES (s.sale_id, s.item_sk, s.address_sk, s.date_sk, s.quantity, s.price)""")

    def update_dimension(self, salt: int) -> None:
        self.spark.sql(
            f"""UPDATE raw.item SET category = concat('category ', {salt})
                WHERE pmod(xxhash64(item_sk, {salt}), 2000) = 0"""
        )

    def version(self) -> int:
        return int(self.spark.sql("DESCRIBE HISTORY raw.fact LIMIT 1").collect()[0]["version"])
