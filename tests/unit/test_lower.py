"""Names, scopes and clauses: what a SELECT means, and what is refused by name."""

from __future__ import annotations

from typing import Any

import pytest
from sqlglot import exp

from ivm.catalog import ForeignKey, PrimaryKey, Table, View
from ivm.compiler import Options, compile_view
from ivm.errors import IvmError, Unsupported
from ivm.infer_ids import infer_ids
from ivm.lower import Lowered, lower
from ivm.minimize import minimize
from ivm.operators import Aggregate, Filter, Join, Project, Scan, UnionAll
from tests.properties.engine import TestCatalog as Known

T = Table("d.t", ("id", "k", "x"), PrimaryKey(("id",), "test"))
U = Table("d.u", ("k", "n", "x"), PrimaryKey(("k",), "test"))
W = Table("other.t", ("w",))
N = Table("d.n", ("st", "id"))
CATALOG = Known([T, U, W, N])


def lowered(sql: str, catalog: Any = CATALOG) -> Lowered:
    return lower(sql, catalog, "d")


def shown(sql: str, catalog: Any = CATALOG) -> list[str]:
    return [name for name, _ in lowered(sql, catalog).outputs]


def scans(sql: str, catalog: Any = CATALOG) -> list[str]:
    return [op.table.name for op in lowered(sql, catalog).plan.walk() if isinstance(op, Scan)]


def reasons(sql: str, catalog: Any = CATALOG) -> list[str]:
    with pytest.raises(Unsupported) as refused:
        lowered(sql, catalog)
    return [reason.construct for reason in refused.value.reasons]


def expressions(sql: str) -> list[str]:
    plan = lowered(sql).plan
    assert isinstance(plan, Project)
    return [e.sql("spark").replace("`", "") for _, e in plan.outputs]


# -- scopes


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("select id from t", ["d.t"]),
        ("select w from other.t", ["other.t"]),
        ("with t as (select n from u) select n from t", ["d.u"]),
        ("with t as (select id from t) select id from t", ["d.t"]),
        # A qualified name is never a CTE.
        ("with t as (select n from u) select id from d.t", ["d.t"]),
        ("with a as (select id from t), b as (select id from a) select id from b", ["d.t"]),
        # An inner WITH hides an outer one, and only inside.
        (
            "with a as (select id from t) select i.n, a.id from "
            "(with a as (select n from u) select n from a) i cross join a",
            ["d.u", "d.t"],
        ),
        ("with a as (select id from t) select a.id from a join a b on a.id = b.id", ["d.t"] * 2),
    ],
)
def test_a_name_means_the_nearest_cte_or_else_a_table(sql: str, tables: list[str]) -> None:
    assert scans(sql) == tables


def test_a_cte_may_rename_its_columns() -> None:
    assert shown("with a (p, q) as (select id, k from t) select * from a") == ["p", "q"]
    assert shown("select * from (select id, k from t) as a (p, q)") == ["p", "q"]
    assert reasons("select * from (select id, k from t) as a (p)") == [
        "column list of another length"
    ]


def test_a_star_is_what_stands_in_from() -> None:
    assert shown("select * from t") == ["id", "k", "x"]
    assert shown("select u.*, t.id from t, u") == ["k", "n", "x", "id"]
    assert shown("select * except (k) from t") == ["id", "x"]
    assert reasons("select q.* from t") == ["ambiguous or unknown name"]


def test_using_shows_the_shared_columns_first_and_once() -> None:
    assert shown("select * from t join u using (x, k)") == ["x", "k", "id", "n"]
    # A natural join shares what both sides have.
    assert shown("select * from t natural join u") == ["k", "x", "id", "n"]
    assert expressions("select k from t join u using (k)") == ["t_k"]
    assert expressions("select u.k from t join u using (k)") == ["u_k"]


def test_a_name_of_two_inputs_is_ambiguous() -> None:
    assert reasons("select k from t join u on t.k = u.k") == ["ambiguous or unknown name"]
    assert reasons("select nothing from t") == ["ambiguous or unknown name"]
    assert reasons("select a.k from (select k, x as k from t) a") == ["ambiguous or unknown name"]
    assert reasons("select t.id from t join u using (n)") == ["ambiguous or unknown name"]
    assert reasons("select t.id from t join u using (id)") == ["unknown USING column"]


def test_names_are_compared_without_case() -> None:
    assert expressions("select T.ID from T") == ["t_id"]
    assert shown("select ID from t") == ["ID"]


def test_a_dotted_name_may_be_a_field_of_a_struct() -> None:
    assert expressions("select n.st.f from n") == ["n_st.f"]
    assert expressions("select st.f.g from n") == ["n_st.f.g"]
    assert expressions("select d.n.st.f from n as d_n, d.n") == ["n_st_2.f"]


def test_a_qualified_table_may_be_called_by_any_end_of_its_name() -> None:
    assert expressions("select d.t.id, t.id as b from d.t") == ["t_id", "t_id"]
    assert reasons("select t.id from d.t as a") == ["ambiguous or unknown name"]


# -- aliases


def test_where_and_the_list_see_columns_before_aliases() -> None:
    plan = lowered("select k + 1 as x from t where x > 0").plan
    (where,) = (op for op in plan.walk() if isinstance(op, Filter))
    assert where.condition.sql("spark") == "`t_x` > 0"
    # A lateral alias counts only where FROM has no such column.
    assert expressions("select k + 1 as y, y * 2 as z from t")[1] == "(t_k + 1) * 2"
    assert expressions("select k + 1 as x, x * 2 as z from t")[1] == "t_x * 2"


def aggregate(sql: str) -> Aggregate:
    (found,) = (op for op in lowered(sql).plan.walk() if isinstance(op, Aggregate))
    return found


@pytest.mark.parametrize(
    ("sql", "keys"),
    [
        ("select k as g, count(*) as c from t group by k", ["t_k"]),
        ("select k + 1 as g, count(*) as c from t group by k + 1", ["t_k + 1"]),
        ("select k + 1 as g, count(*) as c from t group by g", ["t_k + 1"]),
        ("select k + 1 as g, count(*) as c from t group by 1", ["t_k + 1"]),
        ("select k + 1 as g, count(*) as c from t group by all", ["t_k + 1"]),
        ("select k + 1 as k, count(*) as c from t group by k", None),
        ("select k, k as b, count(*) as c from t group by 1, 2", ["t_k"]),
        ("select count(*) as c from t group by all", []),
    ],
)
def test_group_by_forms(sql: str, keys: list[str] | None) -> None:
    if keys is None:
        keys = ["t_k"]  # the column wins, so k + 1 is an expression over the key
    found = aggregate(sql)
    assert [e.sql("spark").replace("`", "") for _, e in found.keys] == keys
    assert found.grouped == bool(keys)


@pytest.mark.parametrize(
    ("sql", "condition"),
    [
        ("select k, count(*) as n from t group by k having n > 1 and k > 0",
         "(`count`) > 1 AND `t_k_2` > 0"),
        # A grouped column wins over an alias, an alias over a column that is not grouped.
        ("select sum(id) as k from t group by k having k > 2", "`t_k_2` > 2"),
        ("select x + 1 as k, count(*) as c from t group by k, x having k > 1", "`t_k_2` > 1"),
        ("select sum(id) as x from t group by k having x > 2", "(`sum`) > 2"),
    ],
)
def test_having_sees_grouped_columns_then_aliases(sql: str, condition: str) -> None:
    (having,) = (op for op in lowered(sql).plan.walk() if isinstance(op, Filter))
    assert having.condition.sql("spark") == condition


def test_calls_are_shared_and_filters_folded_into_arguments() -> None:
    found = aggregate(
        "select sum(x) as a, sum(x) + count(*) as b, count(id, k) as c, "
        "sum(x) filter (where k > 1) as d, mean(x) as e from t"
    )
    calls = [(c.function, c.argument and c.argument.sql("spark")) for c in found.calls]
    assert calls == [
        ("sum", "`t_x`"),
        ("count", None),
        ("count", "CASE WHEN NOT `t_id` IS NULL AND NOT `t_k` IS NULL THEN 1 END"),
        ("sum", "CASE WHEN `t_k` > 1 THEN `t_x` END"),
        ("avg", "`t_x`"),
    ]


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select x, count(*) as c from t group by k",
         "column neither grouped (as written) nor aggregated"),
        ("select count(*) as c from t group by count(*)", "aggregate in GROUP BY"),
        ("select sum(count(*)) as c from t", "aggregate of an aggregate"),
        ("select k, count(*) as c from t group by 3", "position outside of the SELECT list"),
        ("select x + 1 as k, count(*) as c from t group by k + 1, x having k > 1",
         "name that is a column and an alias in HAVING"),
        ("select count(*) as c from t having nothing > 1", "ambiguous or unknown name"),
        ("select id from t union all select id, k from t", "UNION ALL of different widths"),
    ],
)
def test_what_a_clause_cannot_mean(sql: str, reason: str) -> None:
    assert reasons(sql) == [reason]


# -- expressions whose meaning hangs on names


@pytest.mark.parametrize(
    ("sql", "expression"),
    [
        # A variable hides a column of the user's name, never one of the plan's.
        ("transform(array(x), t_k -> t_k + k)",
         "TRANSFORM(ARRAY(t_x), __ivm_v0_0 -> __ivm_v0_0 + t_k)"),
        ("transform(array(x), k -> K + t.k)",
         "TRANSFORM(ARRAY(t_x), __ivm_v0_0 -> __ivm_v0_0 + t_k)"),
        ("transform(array(x), a -> exists(a.f, b -> b.a > a.b))",
         "TRANSFORM(ARRAY(t_x), __ivm_v0_0 -> EXISTS(__ivm_v0_0.f, __ivm_v1_0 -> "
         "__ivm_v1_0.a > __ivm_v0_0.b))"),
        # Fields keep the names of their columns.
        ("struct(t.k, x + 1, ID)", "STRUCT(t_k AS k, t_x + 1, t_id AS ID)"),
        ("transform(array(x), v -> (v, k))",
         "TRANSFORM(ARRAY(t_x), __ivm_v0_0 -> (__ivm_v0_0 AS v, t_k AS k))"),
        ("arrays_zip(k, array(x))",
         "TRANSFORM(ARRAYS_ZIP(COALESCE(t_k), COALESCE(ARRAY(t_x))), __ivm_v0_0 -> "
         "NAMED_STRUCT('k', __ivm_v0_0.0, '1', __ivm_v0_0.1))"),
        # A star among arguments is the columns, not those that the plan kept.
        ("hash(*)", "HASH(t_id, t_k, t_x)"),
        ("coalesce(t.* except (id), 1)", "COALESCE(t_k, t_x, 1)"),
        ("to_json(struct(*))", "TO_JSON(STRUCT(t_id AS id, t_k AS k, t_x AS x))"),
    ],
)  # fmt: skip
def test_names_in_expressions(sql: str, expression: str) -> None:
    assert expressions(f"select {sql} as e from t") == [expression]


def test_a_star_that_is_no_list_of_columns() -> None:
    assert reasons("select sum(*) as s from t") == ["* as an operand"]
    assert reasons("select count(t.*) as s from t") == ["* as an operand"]
    assert aggregate("select count(*) as n from t having count(*) > 1").calls[0].argument is None


def test_no_column_of_a_plan_is_called_like_a_table_of_its_statements() -> None:
    sql = "with c as (select id, st as input, id as i0 from n) select input.id from c"
    plan = lowered(sql).plan
    names = {c for op in plan.walk() for c in op.columns}
    assert not names & {"input", "i0"}


# -- what is left out


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("select distinct id from t", "SELECT DISTINCT"),
        ("select id from t limit 1", "LIMIT"),
        ("select id from t offset 1", "OFFSET"),
        ("select id, row_number() over (order by k) as r from t", "window function"),
        ("select id from t left join u on t.k = u.k", "LEFT JOIN"),
        ("select id from t right join u on t.k = u.k", "RIGHT JOIN"),
        ("select id from t full join u on t.k = u.k", "FULL JOIN"),
        ("select id from t left semi join u on t.k = u.k", "LEFT SEMI JOIN"),
        ("select id from t left anti join u on t.k = u.k", "LEFT ANTI JOIN"),
        ("select id from t where k in (select k from u)", "subquery in an expression"),
        ("select id from t where exists (select 1 from u)", "subquery in an expression"),
        ("select id, (select count(*) from u) as c from t", "subquery in an expression"),
        ("select rand() as r from t", "volatile function rand()"),
        ("select current_timestamp() as r from t", "volatile function current_timestamp()"),
        ("select current_date as r from t", "volatile function current_date()"),
        ("select my_function(id) as r from t",
         "user-defined function my_function(), whose determinism is unknown"),
        ("select k, count(*) as c from t group by k with rollup", "GROUPING SETS, CUBE or ROLLUP"),
        ("select k, count(*) as c from t group by cube (k)", "GROUPING SETS, CUBE or ROLLUP"),
        ("select k, count(*) as c from t group by grouping sets ((k), ())",
         "GROUPING SETS, CUBE or ROLLUP"),
        ("select id from t union select id from t",
         "UNION (use UNION ALL to have it maintained)"),
        ("select id from t except select k from t", "EXCEPT"),
        ("select id from t intersect all select k from t", "INTERSECT"),
        ("select max(id) as m from t", "aggregate max()"),
        ("select count(distinct id) as m from t", "count(DISTINCT ...)"),
        ("select id from t version as of 3", "time travel"),
        ("select id from t timestamp as of '2024-01-01'", "time travel"),
        ("select id from t tablesample (10 percent)", "TABLESAMPLE"),
        ("select explode(array(1, 2)) as e from t", "generator explode()"),
        ("select id, e from t lateral view explode(array(1)) l as e", "LATERAL VIEW"),
        ("select 1 as a", "SELECT without FROM"),
        ("select * from values (1) as v (a)", "VALUES"),
        ("select * from range(3)", "table-valued function"),
        ("with recursive a as (select id from t) select id from a", "recursive CTE"),
        ("select session_window(x, '5 minutes') as w, count(*) as c from t",
         "session window, which rows of others extend"),
        ("select aes_encrypt(x, x) as c from t", "volatile function aes_encrypt()"),
        ("select date 'today' as d from t", "a literal that means another time every day"),
        ("select to_timestamp(' NOW ') as d from t",
         "a literal that means another time every day"),
        ("select id from t where x < 'yesterday UTC'",
         "a literal that means another time every day"),
    ],
)
def test_a_construct_that_is_not_maintained_is_named(sql: str, reason: str) -> None:
    assert reason in reasons(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "select 'now' as a, concat('today', x) as b, cast('now' as string) as c from t",
        "select aes_encrypt(x, x, 'ECB') as a, aes_encrypt(x, x, 'GCM', 'DEFAULT', x) as b from t",
        "select id, timestampadd(hour, 1, x) as a, timestampdiff(day, x, x) as b from t",
    ],
)
def test_what_looks_volatile_and_is_not(sql: str) -> None:
    assert lowered(sql)


def test_a_unit_is_no_column() -> None:
    catalog = Known([Table("d.t", ("day", "x"))])
    plan = lowered("select datediff(day, x, x) as a, date_add(day, 1) as b from t", catalog).plan
    assert isinstance(plan, Project)
    assert [e.sql("spark") for _, e in plan.outputs] == [
        "DATEDIFF(DAY, `t_x`, `t_x`)",
        "DATE_ADD(`t_day`, 1)",
    ]


def test_a_time_window_that_nobody_reads_still_decides_which_rows_there_are() -> None:
    found = lowered("select id from (select id, k, window(x, '1 hour') as w from t) q")
    plan = minimize(infer_ids(found.plan, [c for _, c in found.outputs]))
    assert [str(op).splitlines()[0] for op in plan.walk()] == [
        "project `id` AS `id_2`  ids(id_2)",
        "project `t_id` AS `id`, WINDOW(`t_x`, '1 hour') AS `w`  ids(id)",
        "scan d.t #1 (t_id, t_x)  ids(t_id)",
    ]


def test_all_reasons_come_at_once() -> None:
    found = reasons("select distinct max(id) as m, rand() as r from t limit 3")
    assert {"SELECT DISTINCT", "LIMIT", "aggregate max()", "volatile function rand()"} <= set(found)


def test_an_unknown_table_is_an_error_not_a_fallback() -> None:
    with pytest.raises(IvmError, match="no table d.nothing"):
        lowered("select 1 as a from nothing")


# -- shapes


def test_unions_are_not_flattened() -> None:
    plan = lowered("select id from t union all select k from t union all select k from u").plan
    assert isinstance(plan, UnionAll)
    assert [type(b) for b in plan.branches] == [UnionAll, Project]


def test_joins_of_one_from_are_one_node() -> None:
    plan = lowered("select t.id from t join u on t.k = u.k and t.x > 1 cross join other.t w").plan
    (join,) = (op for op in plan.walk() if isinstance(op, Join))
    assert len(join.operands) == 3
    assert [c.sql("spark") for c in join.conditions] == ["`t_k` = `u_k`", "`t_x` > 1"]


# -- views in between


def test_a_view_is_expanded_where_it_was_created() -> None:
    view = View("d.v", ("a", "b"), "select w, w + 1 from t", namespace="other")
    catalog = Known([T, W], views=[view])
    assert scans("select a from v", catalog) == ["other.t"]
    assert shown("select * from v", catalog) == ["a", "b"]


def test_a_view_does_not_see_the_models_ctes() -> None:
    view = View("d.v", ("id",), "select id from t", namespace="d")
    catalog = Known([T, U], views=[view])
    assert scans("with t as (select n from u) select v.id from v", catalog) == ["d.t"]


def test_a_view_whose_text_changed_its_width_is_an_error() -> None:
    view = View("d.v", ("a",), "select id, k from t", namespace="d")
    with pytest.raises(IvmError, match="created with other columns"):
        lowered("select a from v", Known([T], views=[view]))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        # The table was replaced by one with its columns in another order, or with more of them.
        ("select x, k, id from t", ["id", "x"]),
        ("select * from t", ["id", "x"]),
        ("select id, k, k + x as z, x from t", ["id", "x"]),
    ],
)
def test_a_view_shows_the_columns_that_it_was_created_with(text: str, columns: list[str]) -> None:
    view = View("d.v", ("one", "two"), text, namespace="d", picked=("id", "x"))
    found = lowered("select one, two from v", Known([T], views=[view]))
    plan = minimize(infer_ids(found.plan, [c for _, c in found.outputs]))
    assert isinstance(plan, Project)
    assert [e.name.removeprefix("t_") for _, e in plan.outputs] == columns


@pytest.mark.parametrize("picked", [("id", "gone"), ("id", "id")])
def test_a_view_whose_columns_are_gone_is_an_error(picked: tuple[str, ...]) -> None:
    view = View("d.v", ("a", "b"), "select id, k from t", namespace="d", picked=picked)
    with pytest.raises(IvmError, match="run the view d.v again"):
        lowered("select a from v", Known([T], views=[view]))


def test_a_view_casts_to_the_types_that_it_was_created_with() -> None:
    class Typed(Known):
        __test__ = False

        def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
            return (("k", "int"), ("sum_2", "double"))

    view = View(
        "d.v", ("k", "s"), "select k, sum(x) as sum from t group by k", namespace="d",
        picked=("k", "sum"), types=("int", "decimal(10,2)"),
    )  # fmt: skip
    plan = lowered("select s from v", Typed([T], views=[view])).plan
    expressions_ = [e for op in plan.walk() if isinstance(op, Project) for _, e in op.outputs]
    assert [e.sql("spark") for e in expressions_ if isinstance(e, exp.Cast)] == [
        "CAST(`sum_2` AS DECIMAL(10, 2))"
    ]


def test_a_view_that_reads_itself_is_an_error() -> None:
    view = View("d.v", ("a",), "select a from v", namespace="d")
    with pytest.raises(IvmError, match="reads itself"):
        lowered("select a from v", Known([T], views=[view]))


# -- the whole compiler, against the engine's own reading


class Described(Known):
    __test__ = False

    def __init__(self, *answer: tuple[str, str]) -> None:
        super().__init__([T, U])
        self.answer = answer

    def describe(self, sql: str) -> tuple[tuple[str, str], ...]:
        return self.answer


def test_a_select_that_spark_reads_differently_is_an_error() -> None:
    with pytest.raises(IvmError, match="resolved differently"):
        compile_view("select id from t", Described(("k", "int")), namespace="d")
    with pytest.raises(IvmError, match="resolved differently"):
        compile_view("select id from t", Described(("id", "int"), ("k", "int")), namespace="d")


def test_two_columns_of_one_name_are_an_error() -> None:
    with pytest.raises(IvmError, match="two columns of the same name: k"):
        compile_view(
            "select t.k, u.k from t, u",
            Described(("k", "int"), ("k", "int")),
            namespace="d",
            options=Options(float_sums="add"),
        )


def test_the_fk_graph_needs_every_column_of_the_key() -> None:
    key = ForeignKey(("k",), "d.u", ("k",), "test")
    fact = Table("d.f", ("id", "k", "j"), PrimaryKey(("id",), "test"), (key,))
    two = ForeignKey(("k", "j"), "d.u", ("k", "n"), "test")
    facts = Table("d.g", ("id", "k", "j"), PrimaryKey(("id",), "test"), (two,))

    def edges(table: Table, on: str) -> int:
        catalog = Known([table, U])
        catalog.describe = lambda sql: tuple(  # type: ignore[method-assign]
            (n, "int") for n in ("id", "__ivm_id_1", "__ivm_id_0", "__ivm_id_2")
        )[: 1 if "@" not in sql and "core" not in sql else 4]
        sql = f"select f.id from {table.name} f join u on {on}"
        return len(compile_view(sql, catalog, namespace="d").graph.edges)

    assert edges(fact, "f.k = u.k") == 1
    assert edges(fact, "f.k <=> u.k") == 0
    assert edges(fact, "f.j = u.k") == 0
    assert edges(facts, "f.k = u.k") == 0
    assert edges(facts, "f.k = u.k and f.j = u.n") == 1
