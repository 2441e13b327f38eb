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
from itertools import zip_longest

from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.errors import ErrorLevel, ParseError, TokenError, UnsupportedError
from sqlglot.generators.spark import SparkGenerator
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser
from sqlglot.tokenizer_core import Token, TokenType

from ivm.functions import AGGREGATE, DATED

_ESCAPE = re.compile(
    r"\\u(?P<u4>[0-9a-fA-F]{4})|\\U(?P<u8>[0-9a-fA-F]{8})|\\(?P<octal>[01][0-7]{2})"
    r"|\\(?P<char>.)|(?P<quote>''|\"\")",
    re.DOTALL,
)
_VARIABLE = re.compile(r"\$\{\S+?\}")
_SIMPLE = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}
_SUFFIXES = frozenset({"L", "S", "Y", "D", "F", "BD"})


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

    >>> escape("it's\n\\d ${x}")
    "it\\'s\\n\\\\d \\u0024{x}"
    """
    special = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    escaped = "".join(
        special.get(char, char if char >= " " else f"\\u{ord(char):04x}") for char in value
    )
    # Spark replaces ${name} wherever it stands in a statement, also in a key read from a table.
    return escaped.replace("${", "\\u0024{")


def _call(name: str) -> t.Callable[[list[exp.Expr]], exp.Expr]:
    if name.lower() in AGGREGATE:
        return lambda args: exp.AnonymousAggFunc(this=name, expressions=args)
    return lambda args: exp.Anonymous(this=name, expressions=args)


def _dated(name: str) -> t.Callable[[list[exp.Expr]], exp.Expr]:
    """A call whose first of three arguments is a unit, also where a column is called `day`."""

    def build(args: list[exp.Expr]) -> exp.Expr:
        first = args[0] if len(args) == 3 else None
        if isinstance(first, exp.Column) and not first.table and not first.this.args.get("quoted"):
            unit = first.name.upper()
            if unit in _UNITS or unit == "DAYOFYEAR":
                args = [exp.var(unit), *args[1:]]
        return exp.Anonymous(this=name, expressions=args)

    return build


def _count(args: list[exp.Expr]) -> exp.Expr:
    return exp.Count(this=args[0] if args else None, expressions=args[1:], big_int=True)


_COMPARISONS: dict[TokenType, type[exp.Binary]] = {
    TokenType.EQ: exp.EQ,
    TokenType.NEQ: exp.NEQ,
    TokenType.NULLSAFE_EQ: exp.NullSafeEQ,
    TokenType.LT: exp.LT,
    TokenType.LTE: exp.LTE,
    TokenType.GT: exp.GT,
    TokenType.GTE: exp.GTE,
}
# From the loosest to the tightest; shifts and arithmetic follow.
_LEVELS: tuple[dict[TokenType, type[exp.Binary]], ...] = (
    _COMPARISONS,
    {TokenType.PIPE: exp.BitwiseOr},
    {TokenType.CARET: exp.BitwiseXor},
    {TokenType.AMP: exp.BitwiseAnd},
)
_TERMS: dict[TokenType, type[exp.Binary]] = {
    TokenType.PLUS: exp.Add,
    TokenType.DASH: exp.Sub,
    TokenType.DPIPE: exp.DPipe,
}
_SYMBOLS = frozenset(
    {"<=>", "==", "::", "||", "|>", ">=", "<=", "<>", "!=", "=>", "->", "/*+", "{{", "}}"}
)
_SIGNS = {TokenType.PLUS: "", TokenType.DASH: "-"}
_UNITS = frozenset(
    unit + plural
    for unit in (
        *("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND"),
        *("MILLISECOND", "MICROSECOND", "NANOSECOND"),
    )
    for plural in ("", "S")
)
_TYPED_LITERALS = frozenset({"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_NTZ", "TIMESTAMP_LTZ"})
# Words that stand between the arguments of a call instead of a comma.
_SEPARATORS = {
    "POSITION": ("IN",),
    "SUBSTRING": ("FROM", "FOR"),
    "SUBSTR": ("FROM", "FOR"),
    "OVERLAY": ("PLACING", "FROM", "FOR"),
}


class _Parser(SparkParser):
    STRICT_CAST = True
    ADD_JOIN_ON_TRUE = False
    ARRAY_CONSTRUCTORS: t.ClassVar[dict[str, t.Any]] = {}

    FUNCTIONS = {
        **{name.upper(): _call(name.upper()) for name in AGGREGATE},
        **{name.upper(): _dated(name.upper()) for name in DATED},
        "AVG": exp.Avg.from_arg_list,
        "COALESCE": exp.Coalesce.from_arg_list,
        "COUNT": _count,
        "IF": exp.If.from_arg_list,
        "MAX": exp.Max.from_arg_list,
        "MIN": exp.Min.from_arg_list,
        "SUM": exp.Sum.from_arg_list,
    }
    FUNCTION_PARSERS = {
        **{
            name: parser
            for name, parser in SparkParser.FUNCTION_PARSERS.items()
            if name in ("CAST", "TRY_CAST", "EXTRACT")
        },
        **{
            name: (lambda self, name=name: t.cast(_Parser, self)._parse_separated(name))
            for name in _SEPARATORS
        },
        "TRIM": lambda self: t.cast(_Parser, self)._parse_trim_call(),
    }
    # A colon is not the start of a parameter: after a value it would become its alias.
    PLACEHOLDER_PARSERS: t.ClassVar[dict[TokenType, t.Any]] = {}
    NO_PAREN_FUNCTION_PARSERS = {
        name: parser
        for name, parser in SparkParser.NO_PAREN_FUNCTION_PARSERS.items()
        if name == "CASE"
    }
    NO_PAREN_FUNCTIONS = {
        TokenType.CURRENT_DATE: exp.CurrentDate,
        TokenType.CURRENT_TIMESTAMP: exp.CurrentTimestamp,
        TokenType.CURRENT_USER: exp.CurrentUser,
        TokenType.SESSION_USER: exp.SessionUser,
    }
    COLUMN_OPERATORS = {
        token: parser
        for token, parser in SparkParser.COLUMN_OPERATORS.items()
        if token in (TokenType.DOT, TokenType.DCOLON)
    }
    UNARY_PARSERS = {
        **SparkParser.UNARY_PARSERS,
        TokenType.PLUS: lambda self: t.cast(_Parser, self)._parse_plus(),
        TokenType.DASH: lambda self: t.cast(_Parser, self)._parse_minus(),
    }

    # Operators

    def _parse_bitwise(self) -> exp.Expr | None:
        return self._parse_level(0)

    def _parse_level(self, level: int) -> exp.Expr | None:
        if level == len(_LEVELS):
            return self._parse_shift()
        this = self._parse_level(level + 1)
        while self._match_set(_LEVELS[level]):
            kind = _LEVELS[level][self._prev.token_type]
            this = self.expression(kind(this=this, expression=self._parse_level(level + 1)))
        return this

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
        while self._match_set(_TERMS):
            kind = _TERMS[self._prev.token_type]
            this = self.expression(kind(this=this, expression=self._parse_factor(parse_mod)))
        return this

    def _parse_minus(self) -> exp.Expr | None:
        if self._curr.token_type == TokenType.NUMBER:
            # The sign belongs to the literal: -1::STRING is '-1', and -128Y fits.
            number = self.expression(exp.Neg(this=self._parse_primary()))
            return self._parse_collate(self._parse_column_ops(number))
        return self.expression(exp.Neg(this=self._parse_unary()))

    def _parse_plus(self) -> exp.Expr | None:
        # Not a no-op: +'1' is a double.
        return self.expression(exp.Anonymous(this="POSITIVE", expressions=[self._parse_unary()]))

    def _parse_unary(self) -> exp.Expr | None:
        if self._match_set(self.UNARY_PARSERS):
            return t.cast("exp.Expr | None", self.UNARY_PARSERS[self._prev.token_type](self))
        return self._parse_collate(self._parse_type())

    def _parse_collate(self, this: exp.Expr | None) -> exp.Expr | None:
        while self._match(TokenType.COLLATE):
            this = self.expression(exp.Collate(this=this, expression=self._parse_collation()))
        return this

    def _parse_collation(self) -> exp.Expr | None:
        name = self._parse_id_var()
        while self._match(TokenType.DOT):
            name = self.expression(exp.Dot(this=name, expression=self._parse_id_var()))
        return name

    # Literals

    def _parse_primary(self) -> exp.Expr | None:
        this = super()._parse_primary()
        if isinstance(this, exp.Concat):
            # 'a' 'b' is one literal.
            return exp.Literal.string("".join(part.name for part in this.expressions))
        return this

    def _parse_type(
        self, parse_interval: bool = True, fallback_to_identifier: bool = False
    ) -> exp.Expr | None:
        kind = self._curr.text.upper()
        if (
            kind in _TYPED_LITERALS
            and self._curr.token_type != TokenType.IDENTIFIER
            and self._next.token_type == TokenType.STRING
        ):
            self._advance()
            cast = exp.cast(self._parse_primary() or exp.null(), kind, dialect=self.dialect)
            cast.meta["prefix"] = kind
            return self._parse_column_ops(cast)
        return super()._parse_type(parse_interval, fallback_to_identifier)

    def build_cast(self, strict: bool, **kwargs: t.Any) -> exp.Expr:
        suffix, this = self._prev.text.upper(), kwargs["this"]
        negative = isinstance(this, exp.Neg)
        number = this.this if negative else this
        if suffix not in _SUFFIXES or not (isinstance(number, exp.Literal) and number.is_number):
            return super().build_cast(strict, **kwargs)
        cast = super().build_cast(strict, **{**kwargs, "this": number})
        if negative and suffix != "BD":
            cast.set("this", this)
        cast.meta["number"] = f"{'-' if negative else ''}{number.name}{suffix}"
        return cast

    def _parse_interval(
        self, require_interval: bool = True, parse_function_unit: bool = True
    ) -> exp.Interval | None:
        """INTERVAL, then values with units: `'1'` DAY, 1 DAY 2 HOURS, '1-2' YEAR TO MONTH."""
        if self._curr.token_type != TokenType.INTERVAL:
            return None
        start = self._index
        self._advance()
        value = self._parse_interval_value()
        if not value:
            self._retreat(start)
            return None
        words = []
        while True:
            if self._curr.text.upper() in _UNITS:
                self._advance()
                words.append(self._prev.text.upper())
                if self._match_text_seq("TO"):
                    words += ["TO", self._curr.text.upper()]
                    self._advance()
            index = self._index
            following = self._parse_interval_value()
            if not following or self._curr.text.upper() not in _UNITS:
                self._retreat(index)
                break
            words.append(following)
        unit = exp.var(" ".join(words)) if words else None
        return self.expression(exp.Interval(this=exp.var(value), unit=unit))

    def _parse_interval_value(self) -> str | None:
        index = self._index
        sign = ""
        if self._match_set(_SIGNS):
            sign = _SIGNS[self._prev.token_type]
        if self._match(TokenType.STRING):
            return f"{sign}'{escape(self._prev.text)}'"
        if self._match(TokenType.NUMBER):
            return f"{sign}{self._prev.text}"
        self._retreat(index)
        return None

    def _parse_types(self, *args: t.Any, **kwargs: t.Any) -> exp.Expr | None:
        # Past Hive's, which turns CHAR(n) and VARCHAR(n) into STRING.
        return super(HiveParser, self)._parse_types(*args, **kwargs)

    # Calls

    def _parse_separated(self, name: str) -> exp.Expr:
        args = [self._parse_lambda() if name != "POSITION" else self._parse_bitwise()]
        while self._match(TokenType.COMMA) or self._match_texts(_SEPARATORS[name]):
            args.append(self._parse_bitwise())
        return self.expression(exp.Anonymous(this=name, expressions=args))

    def _parse_trim_call(self) -> exp.Expr:
        if self._match_texts(("BOTH", "LEADING", "TRAILING")):
            position: str | None = self._prev.text.upper()
        else:
            position = None
        chars = None if self._match(TokenType.FROM, advance=False) else self._parse_bitwise()
        if self._match(TokenType.FROM):
            return self.expression(
                exp.Trim(this=self._parse_bitwise(), expression=chars, position=position)
            )
        args = [chars]
        while self._match(TokenType.COMMA):
            args.append(self._parse_bitwise())
        return self.expression(exp.Anonymous(this="TRIM", expressions=args))


class _Generator(SparkGenerator):
    SUPPORTS_TEMPORAL_PRECISION = True
    # A WITH stays where it was written: moved up, its names would be seen by more than before.
    EXPRESSIONS_WITHOUT_NESTED_CTES = set()
    TABLESAMPLE_SEED_KEYWORD = "REPEATABLE"

    TYPE_MAPPING = {**SparkGenerator.TYPE_MAPPING, exp.DType.TIME: "TIME"}
    TRANSFORMS = {
        **{
            kind: transform
            for kind, transform in SparkGenerator.TRANSFORMS.items()
            if kind not in (exp.Select, exp.WithinGroup, exp.Trim)
        },
        exp.TryCast: lambda self, e: self.trycast_sql(e),
        exp.BitwiseLeftShift: lambda self, e: self.binary(e, "<<"),
        exp.BitwiseRightShift: lambda self, e: self.binary(e, ">>"),
        # With parentheses they would no longer give way to a column of the same name.
        exp.CurrentDate: lambda self, _: self.normalize_func("CURRENT_DATE"),
        exp.CurrentTimestamp: lambda self, _: self.normalize_func("CURRENT_TIMESTAMP"),
        exp.CurrentUser: lambda self, _: self.normalize_func("CURRENT_USER"),
        exp.SessionUser: lambda self, _: self.normalize_func("SESSION_USER"),
    }

    def escape_str(self, text: str, *args: t.Any, **kwargs: t.Any) -> str:
        return escape(text)

    def nullsafeeq_sql(self, expression: exp.NullSafeEQ) -> str:
        return self.binary(expression, "<=>")

    def bitwisenot_sql(self, expression: exp.BitwiseNot) -> str:
        return f"~ {self.sql(expression, 'this')}"

    def not_sql(self, expression: exp.Not) -> str:
        this = expression.this
        if isinstance(this, exp.Is) and isinstance(this.expression, exp.Null | exp.Boolean):
            return f"{self.sql(this, 'this')} IS NOT {self.sql(this, 'expression')}"
        return super().not_sql(expression)

    def cast_sql(self, expression: exp.Cast, safe_prefix: str | None = None) -> str:
        if "number" in expression.meta:
            return str(expression.meta["number"])
        if "prefix" in expression.meta:
            return f"{expression.meta['prefix']} {self.sql(expression, 'this')}"
        return super().cast_sql(expression, safe_prefix)

    def interval_sql(self, expression: exp.Interval) -> str:
        unit = self.sql(expression, "unit")
        return f"INTERVAL {self.sql(expression, 'this')}" + (f" {unit}" if unit else "")

    def trim_sql(self, expression: exp.Trim) -> str:
        parts = (self.sql(expression, part) for part in ("position", "expression"))
        before = " ".join(part for part in parts if part)
        this = self.sql(expression, "this")
        return f"TRIM({before} FROM {this})" if before else f"TRIM({this})"


class SparkIvm(Spark):
    """sqlglot's Spark dialect, made faithful; sqlglot knows it as `sparkivm`."""

    class Tokenizer(Spark.Tokenizer):
        STRING_ESCAPES = ["\\", "'", '"']
        # Without the operators of other databases, such as ~~ for LIKE.
        KEYWORDS = {
            word: kind
            for word, kind in Spark.Tokenizer.KEYWORDS.items()
            if word[0].isalnum() or word in _SYMBOLS
        }

        def tokenize(self, sql: str) -> list[Token]:
            found: list[Token] = []
            for token in super().tokenize(sql):
                found.append(token)
                if token.token_type in (TokenType.STRING, TokenType.RAW_STRING):
                    token.text = unescape(sql[token.start : token.end + 1])
                    token.token_type = TokenType.STRING
                    if len(found) > 1 and sql[found[-2].start : found[-2].end + 1] in ("x", "X"):
                        found.pop(-2)
                        token.token_type = TokenType.HEX_STRING
                elif token.token_type == TokenType.HEX_STRING and sql[token.start] == "0":
                    token.text = sql[token.start : token.end + 1]
                    token.token_type = TokenType.VAR
            return found

    Parser = _Parser
    Generator = _Generator


SPARK = SparkIvm


# How tightly what a node prints holds together; operands that hold less get parentheses.
_PRIMARY = 13
_BINDING: dict[type[exp.Expr], int] = {
    exp.Or: 1,
    exp.And: 2,
    exp.Not: 3,
    exp.Exists: 3,
    exp.Is: 4,
    exp.In: 4,
    exp.Between: 4,
    exp.Like: 4,
    exp.ILike: 4,
    exp.RegexpLike: 4,
    exp.Escape: 4,
    exp.NullSafeNEQ: 4,
    **dict.fromkeys(_COMPARISONS.values(), 5),
    exp.BitwiseOr: 6,
    exp.BitwiseXor: 7,
    exp.BitwiseAnd: 8,
    exp.BitwiseLeftShift: 9,
    exp.BitwiseRightShift: 9,
    **dict.fromkeys(_TERMS.values(), 10),
    exp.Mul: 11,
    exp.Div: 11,
    exp.IntDiv: 11,
    exp.Mod: 11,
    exp.Neg: 12,
    exp.BitwiseNot: 12,
}
_TIGHT: dict[tuple[type[exp.Expr], str], int] = {
    (exp.Bracket, "this"): _PRIMARY,
    (exp.Bracket, "expressions"): 5,
    (exp.Dot, "this"): _PRIMARY,
    (exp.Collate, "this"): _PRIMARY,
    (exp.Extract, "expression"): 5,
    (exp.Trim, "this"): 5,
    (exp.Trim, "expression"): 5,
}


def _needs(parent: exp.Expr, key: str) -> int:
    """How tightly the operand of a node under this key has to hold together."""
    kind = type(parent)
    if (kind, key) in _TIGHT:
        return _TIGHT[kind, key]
    own = _BINDING.get(kind, 0)
    if own <= 3 or own >= 12:
        return own
    if own == 4:
        # The tested values of IN stand in parentheses; LIKE with ESCAPE is one predicate.
        return 0 if key == "expressions" or kind is exp.Escape else 5
    return own + (key == "expression")


def _with_parentheses(tree: exp.Expr) -> exp.Expr:
    tree = tree.copy()
    for node in list(tree.walk()):
        parent, binding = node.parent, _BINDING.get(type(node), _PRIMARY)
        if parent is not None and binding < _needs(parent, str(node.arg_key)):
            wrapped = exp.Paren()
            node.replace(wrapped)
            wrapped.set("this", node)
    return tree


# Words that the printer adds or leaves out, has moved, and writes in another way.
_SILENT = frozenset(
    {
        *(TokenType.L_PAREN, TokenType.R_PAREN, TokenType.ALIAS, TokenType.ASC),
        *(TokenType.COLON, TokenType.DCOLON),
    }
)
_MOVED = frozenset({"NOT", "IGNORE", "RESPECT", "NULLS"})
_COMMAS = frozenset({"FROM", "FOR", "PLACING", "IN"})
_SAME = {
    "IS NOT DISTINCT COMMA": "NULLSAFE_EQ",
    "CROSS JOIN": "COMMA",
    "INNER JOIN": "JOIN",
    "LEFT OUTER": "LEFT",
    "RIGHT OUTER": "RIGHT",
    "FULL OUTER": "FULL",
    "NULLS FIRST": "",
    "NULLS LAST": "",
    "UNION DISTINCT": "UNION",
    "EXCEPT DISTINCT": "EXCEPT",
    "INTERSECT DISTINCT": "INTERSECT",
}
_SAME_WORDS = [
    ("".join(f"\0{word}\1" for word in old.split()), f"\0{new}\1" if new else "")
    for old, new in _SAME.items()
]


def _words(sql: str) -> tuple[list[str], list[str]]:
    """What two texts of one meaning share: words in their order, and words in any order.

    >>> _words("select a as b, .5 from t") == _words("SELECT `a` b, 0.5 FROM t")
    True
    """
    words: list[str] = []
    for token in SPARK().tokenize(sql):
        kind, text = token.token_type, token.text
        if kind in _SILENT or text.upper() == "CAST":
            continue
        if kind == TokenType.STRING:
            if words and words[-1].startswith("'"):
                words[-1] += text
                continue
            word = "'" + text
        elif kind == TokenType.NUMBER and words and words[-1] == "DOT":
            words.pop()
            word = "0." + text
        elif kind in (TokenType.VAR, TokenType.IDENTIFIER, TokenType.NUMBER):
            word = "PLUS" if text.upper() == "POSITIVE" else text.upper()
        else:
            word = kind.name
        words.append("COMMA" if word in _COMMAS else word)
    joined = "".join(f"\0{word}\1" for word in words)
    for old, new in _SAME_WORDS:
        joined = joined.replace(old, new)
    words = joined[1:-1].split("\1\0")
    return [w for w in words if w not in _MOVED], sorted(w for w in words if w in _MOVED)


def parse(sql: str) -> exp.Expr:
    """The tree of one statement; `ParseError` when it might print as something else.

    >>> parse("select k, sum(x) from t group by k").sql(SPARK)
    'SELECT k, SUM(x) FROM t GROUP BY k'
    """
    try:
        trees = [tree for tree in SPARK().parse(sql, error_level=ErrorLevel.IMMEDIATE) if tree]
        if len(trees) != 1 or isinstance(trees[0], exp.Command):
            raise ParseError("expected one query")
        tree: exp.Expr = trees[0]
        written, printed = _words(sql.strip().rstrip(";")), _words(to_sql(tree))
    except (TokenError, UnsupportedError) as error:
        raise ParseError(str(error)) from error
    if variable := _VARIABLE.search(sql):
        raise ParseError(f"Spark's variable substitution: {variable[0]}")
    if written != printed:
        pairs = zip_longest(*(words[0] + words[1] for words in (written, printed)), fillvalue="")
        word, other = next((a, b) for a, b in pairs if a != b)
        raise ParseError(f"not understood: {word.strip()!r} would be printed as {other.strip()!r}")
    return tree


def to_sql(expr: exp.Expr, pretty: bool = False) -> str:
    """Spark SQL for a tree, with parentheses wherever an operand needs them.

    >>> to_sql(exp.Mul(this=exp.Add(this=exp.column("a"), expression=exp.column("b")),
    ...     expression=exp.Literal.string("it's")))
    "(a + b) * 'it\\\\'s'"
    """
    return SPARK().generate(
        _with_parentheses(expr),
        copy=False,
        pretty=pretty,
        comments=False,
        unsupported_level=ErrorLevel.RAISE,
    )
