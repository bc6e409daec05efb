"""Templates as people and models write them when they use more of Python than the examples do.

Each body decides rightly that `x` is what it looks for. The names say what they use.
"""

from __future__ import annotations

HEAD = """from __future__ import annotations
import re
import string
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from itertools import groupby
from typing import Any, Literal, Optional
from pydantic import BaseModel, Field
"""
FIELDS = """class Answer(BaseAnswer):
    x: str = Field(description="The target")
    n: float = Field(description="A number")
    names: list[str] = Field(description="Names")
    maybe: Optional[str] = Field(default=None, description="Perhaps")
"""
VALUES = {"x": "BCL-2", "n": 2.0, "names": ["Bcl2 ", "MCL1"], "maybe": None}


def answer(*body: str, before: str = "", methods: str = "") -> str:
    """Return a template with the fields above and these lines as its `verify`."""
    lines = "\n".join(f"        {line}" for line in body)
    return f"{HEAD}{before}\n\n{FIELDS}\n{methods}\n    def verify(self) -> bool:\n{lines}\n"


RUN = {
    "punctuation translated": answer(
        "plain = self.x.lower().translate(str.maketrans('', '', string.punctuation))", "return plain == 'bcl2'"),
    "table at the top": answer(
        "return self.x.translate(TABLE) == 'BCL2'", before="TABLE = str.maketrans({'-': None, '_': None})"),
    "methods as functions": answer("return set(map(str.strip, self.names)) == {'Bcl2', 'MCL1'}"),
    "sorting by a method": answer("return sorted(self.names, key=str.casefold)[0] == 'Bcl2 '"),
    "union of sets": answer("return set.union(*[{n} for n in self.names]) >= {'MCL1'}"),
    "whole numbers": answer("return self.n.is_integer() and int(self.n) == 2"),
    "substitution by a function": answer("return re.sub(r'\\d', lambda m: f'<{m.group()}>', self.x) == 'BCL-<2>'"),
    "compiled substitution": answer(
        "return DIGIT.sub(lambda m: str(int(m[0]) + 1), self.x) == 'BCL-3'", before="DIGIT = re.compile(r'\\d')"),
    "verbose pattern": answer(
        "return re.fullmatch(r'''", "    bcl  # the family", "    -?", "    2'''.strip(), self.x,",
        "    re.IGNORECASE | re.VERBOSE) is not None"),
    "enumeration": answer(
        "return Kind.GENE.value == 'gene' and Kind.GENE is not Kind.DRUG",
        before="class Kind(str, Enum):\n    GENE = 'gene'\n    DRUG = 'drug'\n"),
    "property": answer(
        "return self.normal == 'bcl2'",
        methods="    @property\n    def normal(self) -> str:\n        return self.x.lower().replace('-', '')\n"),
    "static method": answer(
        "return self._clean(self.x) == 'bcl2'",
        methods="    @staticmethod\n    def _clean(text):\n        return re.sub('[^a-z0-9]', '', text.lower())\n"),
    "helper at the top": answer(
        "return clean(self.x) == 'BCL2'", before="def clean(text: str) -> str:\n    return text.replace('-', '')\n"),
    "counting": answer("return Counter(self.x.lower())['b'] == 1 and sum(Counter(self.names).values()) == 2"),
    "default dictionary": answer(
        "seen = defaultdict(list)", "for name in self.names:", "    seen[name[:1]].append(name)",
        "return list(seen) == ['B', 'M']"),
    "accents": answer(
        "plain = unicodedata.normalize('NFKD', 'é' + self.x)",
        "return ''.join(c for c in plain if not unicodedata.combining(c)) == 'eBCL-2'"),
    "first of a generator": answer("return next((n for n in self.names if 'MCL' in n), None) == 'MCL1'"),
    "match statement": answer(
        "match self.names:", "    case [first, *_] if first.strip() == 'Bcl2':", "        return True",
        "    case _:", "        return False"),
    "walrus": answer("return (m := re.search(r'\\d', self.x)) is not None and m.group() == '2'"),
    "try and except": answer(
        "try:", "    number = float(self.x.split('-')[1])", "except (ValueError, IndexError):", "    return False",
        "return number == self.n"),
    "reduce and groups": answer(
        "groups = [key for key, _ in groupby(sorted(n[0] for n in self.names))]",
        "return reduce(lambda a, b: a + b, groups) == 'BM'"),
    "dataclass": answer(
        "return Pair('a', 1).size == 1", before="@dataclass\nclass Pair:\n    name: str\n    size: int = 0\n"),
    "closures": answer(
        "def within(low, high):", "    return lambda value: low <= value <= high", "return within(1, 3)(self.n)"),
    "optional value": answer("return self.maybe is None or bool(self.maybe)"),
    "nested model": answer(
        "return Site(organ='liver').organ == 'liver'",
        before="class Site(BaseModel):\n    organ: str = Field(description='The organ')\n"),
    "literal alias": answer(
        "return self.x in ('BCL-2', 'BCL2')", before="Kind = Literal['gene', 'drug']\n"),
    "patterns for the response": answer(
        "return self.x == self.correct['x']",
        methods="    def model_post_init(self, __context: Any) -> None:\n        self.correct = {'x': 'BCL-2'}\n"
        "        self.regex = {'r': {'pattern': 'BCL', 'expected': 1, 'match_type': 'count'}}\n"),
    "partial credit": answer("return True").rstrip() + (
        "\n\n    def verify_granular(self) -> float:\n        wanted = {'bcl2', 'mcl1'}\n"
        "        return len(wanted & {n.strip().lower() for n in self.names}) / len(wanted)\n"),
    "a generator kept for later": answer(
        "found = (n.strip() for n in self.names)", "return next(found) == 'Bcl2' and list(found) == ['MCL1']"),
    "mean of a generator": answer(
        "sizes = (len(n) for n in self.names)", "return statistics.mean(sizes) == 4.5", before="import statistics\n"),
    "the del statement": answer("seen = {'a': 1, 'b': 2}", "del seen['a']", "return seen == {'b': 2}"),
    "similarity of texts": answer(
        "close = get_close_matches('BCL2', ['BCL-2', 'KRAS'])",
        "return close == ['BCL-2'] and SequenceMatcher(None, self.x, 'BCL2').ratio() > 0.8",
        before="from difflib import SequenceMatcher, get_close_matches\n"),
    "a validator": answer(
        "return self.x == 'bcl-2' and self.n == 3", methods=(
            "    @field_validator('x')\n    @classmethod\n    def lower(cls, value):\n        return value.lower()\n\n"
            "    @field_validator('n', mode='after')\n    def up(cls, value):\n        return value + 1\n")),
    "a cached property": answer(
        "return self.plain == 'bcl-2'", before="from functools import cached_property\n",
        methods="    @cached_property\n    def plain(self):\n        return self.x.lower()\n"),
}  # fmt: skip
REFUSED = {
    "a generator": answer(
        "return list(self.parts()) != []", methods="    def parts(self):\n        yield from self.names\n"),
    "inheritance": answer("return True", before="class A:\n    pass\nclass B(A):\n    pass\n"),
    "an exception of its own": answer("return True", before="class Missing(Exception):\n    pass\n"),
    "a library that is not there": answer("return True", before="import numpy as np\n"),
    "a validator before the type": answer(
        "return True", methods="    @field_validator('x', mode='before')\n    def f(cls, v):\n        return v\n"),
}  # fmt: skip
