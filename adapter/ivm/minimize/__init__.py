"""Rewrites that make a plan smaller without changing its rows or its IDs, one file each."""

from ivm.minimize.merge_projects import merge_projects
from ivm.plan import Operator

REWRITES = (merge_projects,)


def minimize(plan: Operator) -> Operator:
    for rewrite in REWRITES:
        plan = rewrite(plan)
    return plan


__all__ = ["REWRITES", "minimize"]
