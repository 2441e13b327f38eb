"""A set of rows as bits of a literal: which rows of storage can be in the touched units.

A row of the set always passes; another one passes when its hash falls on the same bit. The literal
is bounded, whatever the number of units, and every row that is looked at costs the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ivm import names
from ivm.sql import alias, cast, column, hash_of, number, select, subquery, text

# As Spark collects it: 65,536 words at most, whatever the number of units.
MAX_BITS = 1 << 22
MIN_BITS = 1 << 10
WORD = 64
# One row in so many passes without being touched, as long as MAX_BITS allows.
BITS_PER_UNIT = 64


@dataclass(frozen=True)
class Bitmap:
    """`words` of 64 bits, as signed integers. Their number is a power of two."""

    words: tuple[int, ...]

    def contains(self, columns: Sequence[exp.Expr]) -> exp.Expr:
        """A condition on the columns whose hashes the bitmap holds."""
        hashed = hash_of(columns)
        last = number(len(self.words) * WORD - 1)
        low = exp.paren(exp.BitwiseAnd(this=hashed, expression=last))
        place = exp.Add(this=cast(_call("shiftright", low, number(6)), "int"), expression=number(1))
        listed = exp.Anonymous(
            this="split", expressions=[text(",".join(map(str, self.words))), text(",")]
        )
        word = _call("element_at", cast(listed, "array<bigint>"), place)
        bit = exp.EQ(this=_call("getbit", word, _bit(hashed)), expression=number(1))
        return exp.paren(bit)


def collect(units: exp.Query, columns: Sequence[str]) -> exp.Expr:
    """The bits of all units as one text, `word:bits,word:bits,…`."""
    hashed = alias(hash_of([column(c) for c in columns]), names.HASH)
    hashes = select([hashed], subquery(units, "units"))
    hashed = column(names.HASH)
    low = exp.paren(exp.BitwiseAnd(this=hashed, expression=number(MAX_BITS - 1)))
    bits = _call("bit_or", _call("shiftleft", cast(number(1), "bigint"), _bit(hashed)))
    words = select(
        [alias(_call("shiftright", low, number(6)), names.WORD), alias(bits, names.BITS)],
        subquery(hashes, "hashes"),
    ).group_by(exp.Literal.number(1))
    pair = exp.func(
        "concat", cast(column(names.WORD), "string"), text(":"), cast(column(names.BITS), "string")
    )
    joined = exp.ArrayToString(this=exp.ArrayAgg(this=pair), expression=text(","))
    return exp.Subquery(this=select([joined], subquery(words, "words")))


def read(collected: str, units: int) -> Bitmap:
    """Folded to a size that fits the number of units.

    >>> read("0:5,16:2", 1).words[:2], len(read("", 1).words)
    ((7, 0), 16)
    """
    size = MIN_BITS
    while size < MAX_BITS and size < units * BITS_PER_UNIT:
        size *= 2
    words = [0] * (size // WORD)
    for pair in filter(None, collected.split(",")):
        word, bits = pair.split(":")
        words[int(word) % len(words)] |= int(bits) % (1 << WORD)
    return Bitmap(tuple(w - (1 << WORD) if w >> (WORD - 1) else w for w in words))


def _bit(hashed: exp.Expr) -> exp.Expr:
    return cast(exp.BitwiseAnd(this=hashed.copy(), expression=number(WORD - 1)), "int")


def _call(name: str, *arguments: exp.Expr) -> exp.Anonymous:
    return exp.Anonymous(this=name, expressions=[a.copy() for a in arguments])
