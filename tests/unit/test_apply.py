"""How a delta reaches storage: choice of a form, key filters, refusals, violated keys."""

from __future__ import annotations

import pytest
from sqlglot import exp

from ivm import names
from ivm.apply import measure
from ivm.apply.bitmap import Bitmap
from ivm.apply.choice import Form, after, choose
from ivm.apply.measure import Measures, Range, key_filter, touched
from ivm.catalog import ForeignKey, PrimaryKey
from ivm.catalog import Table as CatalogTable
from ivm.compiler import Options, compile_view
from ivm.dialect import to_sql
from ivm.errors import Unsupported
from ivm.explain import explain, explain_unsupported
from ivm.opaque import opaque_view
from ivm.operators import Scan
from ivm.policy.immediate import Facts, predict
from ivm.propagate import Pinned
from ivm.render.binding import Binding, fill
from ivm.render.delta_lake import Diff, Feed, Unchanged
from ivm.render.spark import build_storage, drop_stage, facade_view, stage_table
from ivm.sql import hole
from tests.properties.case import NAMESPACE, Case, Row, Table
from tests.properties.duckdb_engine import DuckDb
from tests.properties.engine import Maintained, Mismatch, catalog_of, run
from tests.properties.engine import TestCatalog as Known

T = Table("t", (("id", "int"), ("x", "int")), ("id",), ((1, 1), (2, 2)))


def forms(sql: str, *rounds: tuple[Row, ...], table: Table = T) -> list[str]:
    return run(Case((table,), (sql,), tuple({"t": rows} for rows in rounds)), DuckDb())


# -- violated keys


@pytest.mark.parametrize(
    ("rounds", "taken"),
    [
        # One row per key throughout.
        ([((1, 3), (3, 3))], ["replaced_rows"]),
        # One row becomes two: the delta itself shows it.
        ([((1, 3), (1, 4))], ["counted_rows"]),
        # A second row joins one that stays: only storage shows it, and the commit refuses.
        ([((1, 1), (1, 4), (2, 2))], ["counted_rows"]),
        # Two become one, which a MERGE by key would write twice.
        ([((1, 1), (1, 4)), ((1, 7),)], ["counted_rows", "counted_rows"]),
        # Two become one of the two.
        ([((1, 1), (1, 4)), ((1, 4),)], ["counted_rows", "counted_rows"]),
        # The same row twice, then once.
        ([((1, 1), (1, 1)), ((1, 1),)], ["counted_rows", "counted_rows"]),
        # Both go, and one comes back.
        ([((1, 1), (1, 1)), (), ((1, 1),)], ["counted_rows", "counted_rows", "replaced_rows"]),
        # NULL is a key like any other.
        ([((None, 1),), ((None, 2),), ((None, 2), (None, 3))],
         ["replaced_rows", "replaced_rows", "counted_rows"]),
    ],
)
def test_a_violated_key_never_makes_the_view_wrong(
    rounds: list[tuple[Row, ...]], taken: list[str]
) -> None:
    assert forms("select id, x from t", *rounds) == taken


def test_a_bag_loses_one_of_two_equal_rows() -> None:
    bag = Table("t", T.columns, (), ((1, 1), (1, 1), (2, 2)))
    assert forms("select x from t", ((1, 1), (2, 2)), table=bag) == ["counted_rows"]


def test_a_row_found_by_a_constant() -> None:
    """Its key is fixed by the filter, but it still has one."""
    changes = [((1, 5), (2, 2)), ((2, 2),), ((1, 6), (1, 7))]
    assert forms("select x from t where id = 1", *changes) == [
        "replaced_rows",
        "replaced_rows",
        "counted_rows",
    ]


# -- aggregates


def test_a_double_that_is_taken_away_recomputes_its_group_only() -> None:
    """1e20 + 1.0 - 1e20 is 0.0."""
    doubles = Table("t", (("id", "int"), ("x", "double")), ("id",), ((1, 1e20), (1, 1.0), (2, 3.0)))
    taken = forms(
        "select id, sum(x) as s from t group by id",
        ((1, 1.0), (2, 3.0)),
        ((1, 1.0), (2, 3.0), (2, 0.5)),
        table=doubles,
    )
    assert taken == ["groups flagged", "groups"]


def test_float_sums_add_trusts_the_user() -> None:
    doubles = Table("t", (("id", "int"), ("x", "double")), ("id",), ((1, 0.5), (2, 3.0)))
    case = Case((doubles,), (), ())
    engine = DuckDb()
    engine.create(case)
    sql = "select sum(x) as s from t"
    view = Maintained(engine, 0, sql, catalog_of(case, engine))
    view.compiled = compile_view(
        sql, catalog_of(case, engine), namespace=NAMESPACE, options=Options(float_sums="add")
    )
    engine.write("t", ((2, 3.0),))
    view.refresh()
    assert view.forms == ["groups"]


def test_a_group_whose_values_stay_is_not_written() -> None:
    """Strong minimality: a swap inside a group is no change of it."""
    taken = forms(
        "select count(*) as n, sum(x) as s from t", ((1, 2), (2, 1)), ((1, 2), (2, 2))
    )
    assert taken == ["move_only", "groups"]


def test_one_row_without_group_by_outlives_its_table() -> None:
    sql = "select count(*) as n, sum(x) as s, avg(x) as a from t"
    assert forms(sql, (), ((1, 1),), ()) == ["groups"] * 3
    assert forms(sql + " having count(*) > 1", (), ((1, 1),), ()) == ["groups"] * 3


def test_a_lost_sum_recomputes_every_touched_group() -> None:
    """A decimal sum that overflowed is NULL and cannot be added to."""
    decimals = Table("t", (("id", "int"), ("x", "decimal(10,2)")), (), ((1, "1.00"), (2, "2.00")))
    case = Case((decimals,), (), ())
    engine = DuckDb()
    engine.create(case)
    sql = "select id, sum(x) as s from t group by id"
    view = Maintained(engine, 0, sql, catalog_of(case, engine))
    engine.run("update storage_0 set __ivm_sum_0 = null where id = 1")
    engine.write("t", ((1, "1.00"), (1, "3.00"), (2, "2.00"), (2, "1.00")))
    view.refresh()
    assert view.forms == ["groups all"]


# -- choice


def test_the_choice_of_a_form() -> None:
    engine = DuckDb()
    case = Case((T, Table("u", T.columns, (), ())), (), ())
    engine.create(case)
    catalog = catalog_of(case, engine)

    def chosen(sql: str, keys: tuple[str, ...] | None = ("1",), **counts: int) -> Form:
        values = {"units": 1, "deleted": 0, "inserted": 1, "updated": 0, "most": 1, "recompute": 0}
        measures = Measures(**{**values, **counts}, ranges=(), keys=keys, bitmap=None)
        return choose(compile_view(sql, catalog, namespace=NAMESPACE).storage, measures)

    assert chosen("select id from t") == Form("replaced_rows")
    assert chosen("select id from t", keys=None) == Form("keyed_rows")
    assert chosen("select id from t", most=2) == Form("counted_rows")
    assert chosen("select id from u") == Form("counted_rows")
    assert chosen("select sum(x) as s from t") == Form("groups")
    assert chosen("select sum(x) as s from t", recompute=1) == Form("groups", "flagged")


def test_what_follows_a_refusal() -> None:
    for form in (Form("replaced_rows"), Form("keyed_rows")):
        assert after(form, f"... {names.SURVIVORS} ...") == Form("counted_rows")
    assert after(Form("groups"), names.OVERFLOW) == Form("groups", "all")
    assert after(Form("groups", "flagged"), names.OVERFLOW) == Form("groups", "all")
    assert after(Form("groups", "all"), names.OVERFLOW) is None
    assert after(Form("counted_rows"), names.SURVIVORS) is None
    assert after(Form("keyed_rows"), names.STALE) is None


# -- key filters


def test_a_key_filter_is_made_of_literals_that_skip_files() -> None:
    days = Table("t", (("day", "date"), ("s", "string"), ("n", "int"), ("y", "double")), (), ())
    engine = DuckDb()
    case = Case((days,), (), ())
    engine.create(case)
    sql = "select day, s, n, y, count(*) as c from t group by day, s, n, y"
    storage = compile_view(sql, catalog_of(case, engine), namespace=NAMESPACE).storage
    measures = Measures(
        2, 0, 2, 0, 1, 0,
        (
            Range("day", "2024-01-01", "2024-02-01", False),
            Range("s", "a", "it's", True),
            Range("n", None, None, True),
        ),
        None,
        Bitmap((5, -1)),
    )
    found = key_filter(storage, measures, "m")
    assert found is not None
    assert to_sql(found) == (
        "(`m`.`day` >= DATE '2024-01-01' AND `m`.`day` <= DATE '2024-02-01') AND "
        "((`m`.`s` >= 'a' AND `m`.`s` <= 'it\\'s') OR `m`.`s` IS NULL) AND `m`.`n` IS NULL AND "
        "(GETBIT(ELEMENT_AT(CAST(SPLIT('5,-1', ',') AS ARRAY<BIGINT>), CAST(SHIFTRIGHT(("
        "XXHASH64(STRUCT(`m`.`day`, `m`.`s`, `m`.`n`, `m`.`y`)) & 127), 6) AS INT) + 1), "
        "CAST(XXHASH64(STRUCT(`m`.`day`, `m`.`s`, `m`.`n`, `m`.`y`)) & 63 AS INT)) = 1)"
    )


def test_touched_keys_are_written_in_parts_that_skip_files() -> None:
    engine = DuckDb()
    case = Case((T, Table("s", (("k", "string"), ("x", "int")), ("k",), ())), (), ())
    engine.create(case)

    def written(sql: str, keys: tuple[str, ...], nulls: bool = False) -> str:
        storage = compile_view(sql, catalog_of(case, engine), namespace=NAMESPACE).storage
        ranges = (Range(storage.unit[0], keys[0], keys[-1], nulls),)
        return to_sql(touched(storage, Measures(2, 0, 2, 0, 1, 0, ranges, keys, None)))

    two = "(`id` >= 1 AND `id` <= 1 AND `id` IN (1)) OR (`id` >= 7 AND `id` <= 7 AND `id` IN (7))"
    assert written("select id from t", ("1", "7")) == two
    assert written("select k from s", ("it's",), nulls=True) == (
        "(`k` >= 'it\\'s' AND `k` <= 'it\\'s' AND `k` IN ('it\\'s')) OR `k` IS NULL"
    )
    many = written("select id from t", tuple(map(str, range(40))))
    assert many.count("IN") == 4 and "`id` IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)" in many


def test_keys_that_are_too_long_are_not_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table("t", (("k", "string"), ("x", "int")), ("k",), (("a", 1), ("longer", 2)))
    changes = [(("a", 2), ("longer", 3)), (("a", 3),)]
    assert forms("select k, x from t", *changes, table=table) == ["replaced_rows"] * 2
    monkeypatch.setattr(measure, "MAX_TEXT", 5)
    assert forms("select k, x from t", *changes, table=table) == ["keyed_rows"] * 2


@pytest.mark.parametrize("key", ["it's", "${spark.app.name}", "a\\b", 'a"b', "a\nb", "`a`"])
def test_keys_that_delta_might_read_otherwise_than_written(key: str) -> None:
    table = Table("t", (("k", "string"), ("x", "int")), ("k",), ((key, 1), ("plain é", 2)))
    changes = [((key, 1), ("plain é", 3)), ((key, 2), ("plain é", 3)), ()]
    taken = forms("select k, x from t", *changes, table=table)
    assert taken == ["replaced_rows", "keyed_rows", "keyed_rows"]


def test_a_day_that_older_calendars_skip_as_a_key() -> None:
    rows = (("1582-10-10", 1), ("1582-11-15", 1))
    table = Table("t", (("k", "date"), ("x", "int")), ("k",), rows)
    changes = [(("1582-10-10", 1), ("1582-11-15", 2)), (("1582-10-10", 2), ("1582-11-15", 2))]
    assert forms("select k, x from t", *changes, table=table) == ["replaced_rows", "keyed_rows"]


def test_dates_strings_and_nulls_as_keys() -> None:
    days = Table(
        "t",
        (("day", "date"), ("s", "string"), ("x", "int")),
        ("day", "s"),
        (("2024-01-01", "a", 1), (None, "it's", 2), ("2024-01-02", None, 3)),
    )
    taken = forms(
        "select day, s, x from t",
        (("2024-01-01", "a", 2), (None, "it's", 5), ("2024-01-02", None, 3)),
        ((None, None, 1), ("2024-01-02", None, 4)),
        table=days,
    )
    assert taken == ["keyed_rows", "keyed_rows"]


# -- rendering


def test_changes_come_from_the_feed_or_from_two_snapshots() -> None:
    table = exp.table_("t", db="d")
    feed = Feed(table, 7, 4, ("id", "x"))
    assert to_sql(feed.post()) == "d.t VERSION AS OF 7"
    assert "TABLE_CHANGES('d.t', 5, 7)" in to_sql(feed.changes())
    # To the last bit: -0.0 is no 0.0, and a map keeps the order of its keys.
    exact = to_sql(Feed(table, 7, 4, ("id", "X"), {"id": "int", "x": "double"}).changes())
    assert "SELECT `id`, ANY_VALUE(`X`) AS `X`, SUM" in exact
    assert "GROUP BY `id`, CAST(`X` AS STRING), `X`" in exact
    diff = to_sql(Diff(table, 7, 4, ("id",)).changes())
    assert "FROM d.t VERSION AS OF 7" in diff
    assert "FROM d.t VERSION AS OF 4" in diff
    with pytest.raises(AssertionError, match="did not change"):
        Unchanged(table, 7).changes()


def test_a_hole_that_nothing_fills_is_an_error() -> None:
    binding = Binding(exp.table_("s"), {}, {"changes of d.t": "staged"})
    for state, name in ((names.POST, "d.t"), (names.STAGE, "delta"), (names.CHANGES, "d.u")):
        with pytest.raises(KeyError):
            fill(exp.select("*").from_(hole(state, name)), binding)
    staged = fill(exp.select("*").from_(hole(names.CHANGES, "d.t")), binding)
    assert to_sql(staged) == "SELECT * FROM `staged`"


def test_statements_around_queries() -> None:
    binding = Binding(exp.table_("v__ivm", db="d"), {}, {"delta": "delta_1"})
    query = exp.select("*").from_(hole(names.STAGE, "delta"))
    assert stage_table("a b", query, binding) == "CACHE TABLE `a b` AS\nSELECT\n  *\nFROM `delta_1`"
    assert drop_stage("a b") == "DROP VIEW IF EXISTS `a b`"
    built = build_storage("SELECT 1", binding, {"p": "it's"})
    assert built == (
        "CREATE OR REPLACE TABLE d.v__ivm USING delta\n"
        "TBLPROPERTIES ('p' = 'it\\'s')\nAS\nSELECT 1"
    )
    assert facade_view(exp.table_("v", db="d"), query, binding, {}).startswith(
        "CREATE OR REPLACE VIEW d.v AS\nSELECT"
    )


def test_only_changed_tables_have_a_delta() -> None:
    table = CatalogTable("d.t", ("id",))
    scan = Scan(table, 1, (("id", "t_id"),))
    assert scan.tuple_delta(Pinned(frozenset())) is None
    assert scan.state(Pinned(frozenset()), "pre") == scan.state(Pinned(frozenset()), "post")
    large = Pinned(frozenset({"d.t"}), frozenset({"d.t"}))
    assert not large.delta(scan).small
    assert large.pre(scan).signed


# -- what is told about a view


def test_explain_prints_every_room() -> None:
    engine = DuckDb()
    engine.create(Case((T, Table("u", T.columns, (), ())), (), ()))
    fk = ForeignKey(("x",), "d.t", ("id",), "test")
    catalog = Known(
        [
            CatalogTable("d.t", ("id", "x"), PrimaryKey(("id",), "meta")),
            CatalogTable("d.u", ("id", "x"), None, (fk,)),
        ],
        engine,
    )
    view = compile_view(
        "select u.id, t.x from u join t on u.x = t.id", catalog, namespace=NAMESPACE
    )
    text = explain("m", view)
    for line in (
        "d.t: key (id) from meta; reads id, x",
        "d.u: no key: whole rows; reads id, x",
        "#1 (x) -> #2",
        "storage: bag, found by",
        "if d.t changed: stage the delta",
        "commit (counted_rows)",
    ):
        assert line in text
    with pytest.raises(Unsupported) as refused:
        compile_view("select id from t limit 1", catalog, namespace=NAMESPACE)
    assert "  - LIMIT: " in explain_unsupported("m", refused.value)


def test_a_view_outside_of_the_grammar_is_stored_as_it_stands() -> None:
    view = opaque_view("select 1 as a -- one\n;", [("a b", "int")])
    assert to_sql(view.facade()) == (
        "SELECT CAST(`__ivm_column_0` AS INT) AS `a b` FROM `@storage` WHERE `__ivm_ctl` IS NULL"
    )
    assert "(\nselect 1 as a -- one\n\n) AS q (`__ivm_column_0`)" in view.build("v0")


def test_a_prediction_counts_what_is_read_and_written() -> None:
    small = predict(Facts({"a": 1000}, 1000, {"a": 10}))
    assert not small.prefers_rebuild
    assert str(small) == "predicted 0.0 s incremental, 0.0 s rebuild"
    diffed = predict(Facts({"a": 10**10}, 10**9, {"a": None}, frozenset({"a"})))
    assert diffed.prefers_rebuild


def test_the_test_itself_sees_a_wrong_view() -> None:
    engine = DuckDb()
    case = Case((T,), (), ())
    engine.create(case)
    view = Maintained(engine, 0, "select id, x from t", catalog_of(case, engine))
    engine.run("update storage_0 set x = 9 where id = 1")
    with pytest.raises(Mismatch, match="missing"):
        view.check("nothing")
    engine.run("insert into storage_0 by name (select 'v0' as __ivm_ctl)")
    with pytest.raises(Mismatch, match="control rows"):
        view.check("nothing")
