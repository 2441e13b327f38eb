"""The same on Spark and Delta: random views, and what only Spark itself can tell.

One JVM for all; the tables of a case are shared by its views, because commits are what costs.
"""

from __future__ import annotations

import random

import pytest

from tests.properties.case import Case, Row, Table
from tests.properties.engine import Maintained, catalog_of, run
from tests.properties.generate import Pick, draw_case

pytestmark = pytest.mark.spark

VIEWS = 5


class Dice(Pick):
    """Choices by a seed: shrinking is of no use where a case takes a minute."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def integer(self, low: int, high: int) -> int:
        return self.random.randint(low, high)


@pytest.fixture(scope="module")
def spark(root: object) -> object:
    from tests.properties.spark_engine import Spark

    return Spark.local()


def maintained(case: Case, spark: object) -> list[str]:
    try:
        return run(case, spark)  # type: ignore[arg-type]
    except BaseException as error:
        error.add_note(f"{case}\nreplay: python -m tests.properties.replay {case.word()} spark")
        raise


@pytest.mark.parametrize("seed", range(2))
def test_a_maintained_view_is_its_query(seed: int, spark: object) -> None:
    maintained(draw_case(Dice(seed), views=VIEWS, rounds=2), spark)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(2, 33))
def test_more_maintained_views_are_their_queries(seed: int, spark: object) -> None:
    maintained(draw_case(Dice(seed), views=VIEWS, rounds=2), spark)


T = Table(
    "t",
    (("id", "int"), ("k", "int"), ("x", "int"), ("wide", "decimal(25,5)"), ("big", "bigint"),
     ("y", "double")),
    ("id",),
    (
        (1, 1, 3, "1.00000", 1 << 62, float("nan")),
        (2, 1, None, "2.00000", 1 << 61, -0.0),
        (3, 2, 5, "0.00001", None, 0.0),
        (4, 2, -7, None, -(1 << 62), 1.5),
    ),
)
U = Table("u", (("k", "int"), ("name", "string"), ("x", "int")), (), ((1, "a", 1), (2, None, 2)))

AS_SPARK_READS = {
    "star with using": "select * from t join u using (x, k)",
    "natural join": "select * from t natural join u",
    "column before alias in group by": "select k + 1 as k, count(*) as n from t group by k",
    "alias in having": "select k, count(*) as n from t group by k having n > 1",
    "aggregate alias that is a column in having":
        "select k, sum(x) as x from t group by k having x > 1",
    "lateral alias": "select id, x + 1 as p, p * 2 as q from t",
    "column before lateral alias": "select id + 1 as x, x * 2 as q from t",
    "group by all without a key": "select count(*) as n, sum(x) as s from t group by all",
    "group by all with a constant": "select 'c' as c, k, count(*) as n from t group by all",
    "constant key": "select count(*) as n from t group by 'c'",
    "mean of a wide decimal": "select k, avg(wide) as m, sum(wide) as s from t group by k",
    "mean of big numbers": "select avg(big) as m, sum(x) as s, avg(x) as a from t",
    "null column": "select id, null as n from t",
    "null column beside groups": "select k, null as n, count(null) as c from t group by k",
    "odd names": "select id as `a b`, x as `x.y`, k as `ü`, y as `Id` from t",
    "text of a number": "select sum(cast(x as string)) as s, avg(cast(x as string)) as m from t",
    "types of a union": "select id, x from t union all select k, name from u where k is null",
    "zero and not a number": "select y, count(*) as n, sum(y) as s from t group by y",
    "constant filter": "select x from t where id = 1",
    "nested with": "with a as (select id from t) select a.id, i.n from "
        "(with a as (select name as n from u) select n from a) i cross join a",
    "boolean and case": "select id, x as b, case when x then 1 end as c from "
        "(select id, x > 2 as x from t)",
}
ROUNDS: tuple[dict[str, tuple[Row, ...]], ...] = (
    {
        "t": (
            (1, 1, 4, "1.00000", 1 << 61, 0.0),
            (2, 1, None, "2.00000", 1 << 61, -0.0),
            (2, 1, None, "2.00000", 1 << 61, -0.0),
            (5, 2, 5, "4.00000", None, float("nan")),
        ),
        "u": ((1, "a", 4), (2, "b", 5), (2, "b", 5)),
    },
    {"t": ()},
)


@pytest.mark.full
def test_what_spark_reads_is_what_is_maintained(spark: object) -> None:
    """All at once over the same tables; every view that fails is named."""
    case = Case((T, U), tuple(AS_SPARK_READS.values()), ROUNDS)
    engine = spark
    engine.create(case)  # type: ignore[attr-defined]
    catalog = catalog_of(case, engine)  # type: ignore[arg-type]
    wrong: dict[str, str] = {}
    views: dict[str, Maintained] = {}
    for i, (name, sql) in enumerate(AS_SPARK_READS.items()):
        try:
            views[name] = Maintained(engine, i, sql, catalog)  # type: ignore[arg-type]
        except Exception as error:
            wrong[name] = f"{type(error).__name__}: {error}"
    for changes in ROUNDS:
        for table, rows in changes.items():
            engine.write(table, rows)  # type: ignore[attr-defined]
        for name, view in views.items():
            if name not in wrong:
                try:
                    view.refresh()
                except Exception as error:
                    wrong[name] = f"{type(error).__name__}: {error}"
    assert not wrong, "\n\n".join(f"{n}: {e[:1500]}" for n, e in wrong.items())
