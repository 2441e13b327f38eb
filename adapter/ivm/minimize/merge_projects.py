"""π over π is one π, as long as no computed expression would then be computed twice.

Every view, CTE and subquery between a model and its tables is a projection of its own.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from sqlglot import exp

from ivm.functions import changes_rows
from ivm.operators import Project
from ivm.plan import Operator
from ivm.sql import substitute


def merge_projects(plan: Operator) -> Operator:
    plan = plan.with_inputs(tuple(merge_projects(child) for child in plan.inputs))
    if not (isinstance(plan, Project) and isinstance(plan.input, Project)):
        return plan
    inner = dict(plan.input.outputs)
    uses = Counter(c.name for _, e in plan.outputs for c in e.find_all(exp.Column))
    repeated = [
        name
        for name, expression in inner.items()
        if (uses[name] > 1 and not isinstance(expression, exp.Column)) or changes_rows(expression)
    ]
    if repeated:
        return plan
    outputs = tuple((name, substitute(e, inner)) for name, e in plan.outputs)
    return replace(plan, input=plan.input.input, outputs=outputs)
