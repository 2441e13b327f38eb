"""Spark 4.1's SQL: parsed and printed without changing what it means.

sqlglot translates between dialects, so it turns calls into its own typed nodes and prints what it
takes to be their equivalent. Here a call stays the call that was written: its name and arguments
are kept, and only what the compiler looks at (`SUM`, `COUNT`, ...) has a node of its own. Operators
bind as in Spark's grammar. `parse` also compares the words of the text with those of the printed
tree, and refuses a text that does not come back as it was.
"""

from __future__ import annotations

import re
import typing as t

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from ivm.functions import AGGREGATE

NAME = "sparkivm"

_ESCAPE = re.compile(
    r"\\u(?P<u4>[0-9a-fA-F]{4})|\\U(?P<u8>[0-9a-fA-F]{8})|\\(?P<octal>[01][0-7]{2})"
    r"|\\(?P<char>.)|(?P<quote>''|\"\")",
    re.DOTALL,
)
_SIMPLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_SUFFIXES = {"L": "BIGINT", "S": "SMALLINT", "Y": "TINYINT", "D": "DOUBLE", "F": "FLOAT"}


def unescape(literal: str) -> str:
    r"""The value of a string literal, given with its quotes.

    >>> unescape(r"'it\'s ''a\n\x\%'")
    "it's 'a\nx\\%"
    """
    if literal[0] in "rR":
        return literal[2:-1]
    delimiter = literal[0]

    def value(match: re.Match[str]) -> str:
        if code := match["u4"] or match["u8"]:
            return chr(int(code, 16))
        if match["octal"]:
            return chr(int(match["octal"], 8))
        if match["quote"]:
            return delimiter if match["quote"][0] == delimiter else match["quote"]
        char: str = match["char"]
        # LIKE has its own use for these two.
        return "\\" + char if char in "%_" else _SIMPLE.get(char, char)

    return _ESCAPE.sub(value, literal[1:-1])


def escape(value: str) -> str:
    r"""What to write between single quotes for this value.

    >>> escape("it's\n\\d")
    "it\\'s\\n\\\\d"
    """
    special = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return "".join(
        special.get(char, char if char >= " " else f"\\u{ord(char):04x}") for char in value
    )


def _call(name: str) -> t.Callable[[list[exp.Expr]], exp.Expr]:
    if name.lower() in AGGREGATE:
        return lambda args: exp.AnonymousAggFunc(this=name, expressions=args)
    return lambda args: exp.Anonymous(this=name, expressions=args)


def _count(args: list[exp.Expr]) -> exp.Expr:
    return exp.Count(this=args[0] if args else None, expressions=args[1:], big_int=True)


_LEVELS: tuple[dict[TokenType, type[exp.Binary]], ...] = (
    {
        TokenType.EQ: exp.EQ,
        TokenType.NEQ: exp.NEQ,
        TokenType.NULLSAFE_EQ: exp.NullSafeEQ,
        TokenType.LT: exp.LT,
        TokenType.LTE: exp.LTE,
        TokenType.GT: exp.GT,
        TokenType.GTE: exp.GTE,
    },
    {TokenType.PIPE: exp.BitwiseOr},
    {TokenType.CARET: exp.BitwiseXor},
    {TokenType.AMP: exp.BitwiseAnd},
)


class _Parser(SparkParser):
    STRICT_CAST = True

    FUNCTIONS = {
        **{name.upper(): _call(name.upper()) for name in AGGREGATE},
        "AVG": exp.Avg.from_arg_list,
        "COALESCE": exp.Coalesce.from_arg_list,
        "COUNT": _count,
        "IF": exp.If.from_arg_list,
        "MAX": exp.Max.from_arg_list,
        "MIN": exp.Min.from_arg_list,
        "SUM": exp.Sum.from_arg_list,
    }
    FUNCTION_PARSERS = {
        name: parser
        for name, parser in SparkParser.FUNCTION_PARSERS.items()
        if name in ("CAST", "TRY_CAST", "EXTRACT")
        or name.startswith(("BROADCAST", "MERGE", "MAPJOIN", "SHUFFLE"))
    }
    NO_PAREN_FUNCTION_PARSERS = {
        name: parser
        for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
        if name in ("CASE", "IF")
    }
    COLUMN_OPERATORS = {
        token: parser
        for token, parser in SparkParser.COLUMN_OPERATORS.items()
        if token in (TokenType.DOT, TokenType.DCOLON)
    }

    def _parse_level(self, level: int) -> exp.Expr | None:
        if level == len(_LEVELS):
            return self._parse_shift()
        this = self._parse_level(level + 1)
        while self._match_set(_LEVELS[level]):
            kind = _LEVELS[level][self._prev.token_type]
            this = self.expression(kind(this=this, expression=self._parse_level(level + 1)))
        return this

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._parse_level(0)

    def _parse_shift(self) -> exp.Expr | None:
        this = self._parse_term()
        while True:
            if self._match_pair(TokenType.LT, TokenType.LT):
                kind: type[exp.Binary] = exp.BitwiseLeftShift
            elif self._match_pair(TokenType.GT, TokenType.GT):
                kind = exp.BitwiseRightShift
            else:
                return this
            this = self.expression(kind(this=this, expression=self._parse_term()))

    def _parse_term(self, parse_mod: bool = True) -> exp.Expr | None:
        this = self._parse_factor(parse_mod=parse_mod)
        while self._match_set((TokenType.PLUS, TokenType.DASH, TokenType.DPIPE)):
            kind: type[exp.Binary] = {
                TokenType.PLUS: exp.Add,
                TokenType.DASH: exp.Sub,
                TokenType.DPIPE: exp.DPipe,
            }[self._prev.token_type]
            this = self.expression(kind(this=this, expression=self._parse_factor(parse_mod)))
        return this


class _Generator(SparkGenerator):
    TRANSFORMS = {
        kind: transform
        for kind, transform in SparkGenerator.TRANSFORMS.items()
        if kind not in (exp.Select, exp.WithinGroup)
    }

    def escape_str(self, text: str, *args: t.Any, **kwargs: t.Any) -> str:
        return escape(text)

    def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
        return self.binary(expression, "<=>")


class SPARK(Spark):
    """sqlglot's Spark dialect, made faithful. Registered as `sparkivm`."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']

        def tokenize(self, sql: str) -> list[Token]:
            found = super().tokenize(sql)
            for token in found:
                if token.token_type in (TokenType.STRING, TokenType.RAW_STRING):
                    token.text = unescape(sql[token.start : token.end + 1])
                    token.token_type = TokenType.STRING
            return found

    Parser = _Parser
    Generator = _Generator


def parse(sql: str) -> exp.Expr:
    """The tree of one statement; `ParseError` when Spark's meaning might get lost.

    >>> parse("select k, sum(x) from t group by k").sql(SPARK)
    'SELECT k, SUM(x) FROM t GROUP BY k'
    """
    trees = SPARK().parse(sql, error_level=ErrorLevel.IMMEDIATE)
    trees = [tree for tree in trees if tree is not None]
    if len(trees) != 1 or trees[0] is None:
        raise ParseError(f"expected one statement, found {len(trees)}")
    if isinstance(trees[0], exp.Command):
        raise ParseError("not a query")
    return trees[0]


def to_sql(expr: exp.Expr, pretty: bool = False) -> str:
    """Spark SQL for a tree.

    >>> to_sql(parse("select 'it''s' as a"))
    "SELECT 'it\\\\'s' AS a"
    """
    return SPARK().generate(expr, pretty=pretty, comments=False, unsupported_level=ErrorLevel.RAISE)
