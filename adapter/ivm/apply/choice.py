"""Which form applies a staged delta."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm import names
from ivm.apply import counted_rows, groups, keyed_rows, replaced_rows
from ivm.apply.measure import Measures
from ivm.apply.merge import Move
from ivm.storage import Storage


@dataclass(frozen=True)
class Form:
    """`name` is reported; `recompute` says which groups come from the post-state."""

    name: str
    recompute: str = ""


def choose(storage: Storage, measures: Measures) -> Form:
    if storage.kind == "groups":
        return Form("groups", "flagged" if measures.recompute else "")
    if storage.kind == "bag" or measures.most > 1:
        return Form("counted_rows")
    return Form("keyed_rows" if measures.keys is None else "replaced_rows")


def after(form: Form, error: str) -> Form | None:
    """The form to take after the commit refused with an error of ours; None if there is none."""
    if names.SURVIVORS in error and form.name in ("keyed_rows", "replaced_rows"):
        return Form("counted_rows")
    if names.OVERFLOW in error and form.recompute != "all":
        return replace(form, recompute="all")
    return None


def commit(form: Form, storage: Storage, measures: Measures, move: Move) -> exp.Expr:
    if form.name == "groups":
        return groups.commit(storage, measures, move, recompute=form.recompute)
    if form.name == "counted_rows":
        return counted_rows.commit(storage, measures, move)
    if form.name == "replaced_rows":
        return replaced_rows.commit(storage, measures, move)
    return keyed_rows.commit(storage, measures, move)
