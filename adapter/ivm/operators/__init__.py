"""One file per operator; each registers itself in `ivm.plan.OPERATORS`."""

from ivm.operators.aggregate import Aggregate, Call
from ivm.operators.filter import Filter
from ivm.operators.join import Join
from ivm.operators.project import Project
from ivm.operators.scan import Scan
from ivm.operators.union_all import UnionAll

__all__ = ["Aggregate", "Call", "Filter", "Join", "Project", "Scan", "UnionAll"]
