"""The table, the bars and the plot of a benchmark's result file."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

Seconds = Callable[..., float | None]


def report(path: Path) -> int:
    value = json.loads(path.read_text())
    rows = value["settings"]["rows"]

    def seconds(view: str, change: str, system: str, size: int = rows) -> float | None:
        found = [
            c
            for c in value["cases"]
            if (c["view"], c["rows"], c["change"], c["system"]) == (view, size, change, system)
        ]
        return found[0]["seconds"] if found else None

    _table(value["cases"], rows)
    print("\nbars (medians)")
    for text, reached, bar, at_least in _bars(value["cases"], seconds, rows):
        if reached is None:
            print(f"  -    {text}: not measured")
            continue
        good = reached >= bar if at_least else reached <= bar
        sign = ">=" if at_least else "<="
        print(f"  {'ok  ' if good else 'MISS'} {text}: {reached:.2f} (bar {sign} {bar})")
    _plot(value["cases"], rows, path.with_suffix(".png"))
    return 0


def _table(cases: list[dict[str, Any]], rows: int) -> None:
    systems = ("product", "table", "merge", "merge_dv")
    print(f"\n{'view':10} {'change':24}" + "".join(f"{s:>10}" for s in systems) + "  table/product")
    changes = dict.fromkeys((c["view"], c["change"]) for c in cases if c["rows"] == rows)
    for view, change in changes:
        found = {
            c["system"]: c["seconds"]
            for c in cases
            if (c["view"], c["change"], c["rows"]) == (view, change, rows)
        }
        cells = "".join(f"{found[s]:10.2f}" if s in found else f"{'':10}" for s in systems)
        ratio = (
            f"{found['table'] / found['product']:10.2f}"
            if {"table", "product"} <= set(found)
            else ""
        )
        print(f"{view:10} {change:24}{cells}{ratio}")


def _bars(
    cases: list[dict[str, Any]], seconds: Seconds, rows: int
) -> list[tuple[str, float | None, float, bool]]:
    def ratio(over: float | None, under: float | None) -> float | None:
        return over / under if over and under else None

    def table(view: str, change: str) -> float | None:
        return ratio(seconds(view, change, "table"), seconds(view, change, "product"))

    merges = [s for s in (seconds("wide", "scattered_0.05", m) for m in ("merge", "merge_dv")) if s]
    sizes = {
        c["system"]: c.get("bytes")
        for c in cases
        if (c["view"], c["change"], c["rows"]) == ("wide", "build", rows)
    }
    product = seconds("wide", "scattered_0.05", "product")
    full, filtered = (
        ratio(seconds("wide", r, "product"), seconds("wide", r, "table"))
        for r in ("read_full", "read_filtered")
    )
    full_50, filtered_50 = (
        ratio(
            seconds("wide", f"{r}_after_50", "product"), seconds("wide", f"{r}_after_50", "table")
        )
        for r in ("read_full", "read_filtered")
    )
    return [
        ("wide, scattered 0.05 %, rebuild / product", table("wide", "scattered_0.05"), 2, True),
        ("wide, recent 0.05 %, rebuild / product", table("wide", "recent_0.05"), 4, True),
        ("aggregate, recent 0.05 %, rebuild / product", table("aggregate", "recent_0.05"), 2, True),
        (
            "wide, scattered 0.05 %, faster merge / product",
            ratio(min(merges, default=None), product),
            3,
            True,
        ),
        (
            "wide, nothing changed, rebuild / product",
            ratio(seconds("wide", "build", "table"), seconds("wide", "none", "product")),
            10,
            True,
        ),
        (
            "wide, recent, this size / a tenth of it",
            ratio(
                seconds("wide", "recent_0.05", "product"),
                seconds("wide", "recent_0.05", "product", rows // 10),
            ),
            1.5,
            False,
        ),
        ("read in full, facade / table", full, 1.2, False),
        ("read by a filter, facade / table", filtered, 1.2, False),
        ("read in full after 50 refreshes", full_50, 1.2, False),
        ("read by a filter after 50 refreshes", filtered_50, 1.2, False),
        (
            "50th refresh / 5th",
            ratio(
                seconds("wide", "refresh_50", "product"), seconds("wide", "refresh_5", "product")
            ),
            1.3,
            False,
        ),
        (
            "first build / table",
            ratio(seconds("wide", "build", "product"), seconds("wide", "build", "table")),
            1.5,
            False,
        ),
        ("storage bytes / table", ratio(sizes.get("product"), sizes.get("table")), 2, False),
    ]


def _plot(cases: list[dict[str, Any]], rows: int, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    wanted = [c for c in cases if c["rows"] == rows and not c["change"].startswith(("read", "ref"))]
    labels = list(dict.fromkeys(f"{c['view']}\n{c['change']}" for c in wanted))
    systems = [
        s
        for s in ("product", "table", "merge", "merge_dv")
        if any(c["system"] == s for c in wanted)
    ]
    figure, axes = pyplot.subplots(figsize=(1.1 * len(labels) + 2, 4.5))
    for n, system in enumerate(systems):
        points = {
            f"{c['view']}\n{c['change']}": c["seconds"] for c in wanted if c["system"] == system
        }
        places = [i + 0.8 * n / len(systems) for i, label in enumerate(labels) if label in points]
        heights = [points[label] for label in labels if label in points]
        axes.bar(places, heights, width=0.8 / len(systems), label=system, align="edge")
    axes.set_xticks([i + 0.4 for i in range(len(labels))], labels, fontsize=7)
    axes.set_yscale("log")
    axes.set_ylabel("seconds (median)")
    axes.set_title(f"star, {rows:,} facts")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    raise SystemExit(report(Path(sys.argv[1])))
