"""The printed stages of each example as text; `UPDATE_GOLDEN=1 pytest tests/golden` rewrites them.

A file holds the view, a line `-- expected`, and what the stage printed. What is printed is also
executed: the view is maintained through the paper's changes.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ivm.compiler import CompiledView, compile_view
from ivm.dialect import to_sql
from ivm.errors import Unsupported
from tests.golden.examples import EXAMPLES, LINK, REFUSED, Example, R, S
from tests.properties.case import NAMESPACE, Case
from tests.properties.duckdb_engine import DuckDb
from tests.properties.engine import Maintained, catalog_of, difference

HERE = Path(__file__).parent
EXPECTED = "-- expected"


def plan(view: CompiledView, example: Example) -> str:
    return str(view.lowered.plan)


def storage(view: CompiledView, example: Example) -> str:
    found_by = ", ".join(view.storage.unit)
    lines = [f"{view.storage.kind}, found by ({found_by})"]
    lines += [f"  {c.name} {c.type}" for c in view.storage.columns]
    return "\n".join([*lines, to_sql(view.facade(), pretty=True)])


def delta(view: CompiledView, example: Example) -> str:
    (changes,) = example.case.rounds
    query = view.stage(frozenset(f"{NAMESPACE}.{t}" for t in changes))
    assert query is not None
    return to_sql(query, pretty=True)


STAGES = {"plan": plan, "storage": storage, "delta": delta}


def compiled(case: Case) -> CompiledView:
    engine = DuckDb()
    engine.create(case)
    return compile_view(case.views[0], catalog_of(case, engine), namespace=NAMESPACE)


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_prints_what_it_did(stage: str, name: str) -> None:
    example = EXAMPLES[name]
    printed = STAGES[stage](compiled(example.case), example)
    text = f"-- {example.origin}\n{example.sql}\n{EXPECTED}\n{printed}\n"
    file = HERE / stage / f"{name}.sql"
    if os.environ.get("UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    assert file.read_text() == text


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_what_the_paper_prints(name: str) -> None:
    example = EXAMPLES[name]
    engine = DuckDb()
    engine.create(example.case)
    view = Maintained(engine, 0, example.sql, catalog_of(example.case, engine))
    assert difference(list(example.before), engine.facade(0)) == ([], [])
    for table, rows in example.case.rounds[0].items():
        engine.write(table, rows)
    view.refresh()
    assert difference(list(example.after), engine.facade(0)) == ([], [])


def test_hop_loses_one_derivation_of_each_tuple() -> None:
    """Figure 1 of Svingos et al.: D(Hop)."""
    example = EXAMPLES["hop_counted"]
    engine = DuckDb()
    engine.create(example.case)
    view = Maintained(engine, 0, example.sql, catalog_of(example.case, engine))
    engine.write("link", example.case.rounds[0]["link"])
    assert view.prepare() is not None
    found = engine.run("select s, d, __ivm_count from delta_0").fetchall()
    assert sorted(found) == [("a", "c", -1), ("a", "e", -1)]


def test_the_state_bug_is_not_there() -> None:
    """Example 1.2 of Colby et al.: two rows are new; with the old delta rule they would be four."""
    example = EXAMPLES["state_bug"]
    engine = DuckDb()
    engine.create(example.case)
    view = Maintained(engine, 0, example.sql, catalog_of(example.case, engine))
    for table, rows in example.case.rounds[0].items():
        engine.write(table, rows)
    assert view.prepare() is not None
    assert engine.run("select sum(__ivm_w) from delta_0").fetchone() == (2,)


@pytest.mark.parametrize("construct", REFUSED)
def test_what_is_not_maintained_yet_is_named(construct: str) -> None:
    with pytest.raises(Unsupported) as refused:
        compiled(Case((LINK, R, S), (REFUSED[construct],), ()))
    assert [reason.construct for reason in refused.value.reasons] == [construct]
