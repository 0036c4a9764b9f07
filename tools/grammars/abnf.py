"""Texts put to the parser that the Python package abnf makes from ABNF.

`abnf.py PACKAGE FILE RULE`: FILE is a grammar of the package, as extract.py names
it; the rule is the one that a text must be. Texts come on standard input, each
behind its length in four bytes, and for each `yes` or `no` is printed.
"""

import importlib
import pathlib
import struct
import sys

sys.path.insert(0, sys.argv[1])
sys.setrecursionlimit(20000)
module, name, _ = pathlib.Path(sys.argv[2]).name.split(".")
from abnf.parser import ParseError

Rule = getattr(importlib.import_module(f"abnf.grammars.{module}"), name)
rule = Rule(sys.argv[3])
texts = sys.stdin.buffer.read()
at = 0
while at < len(texts):
    (length,) = struct.unpack_from("<I", texts, at)
    text = texts[at + 4 : at + 4 + length]
    at += 4 + length
    try:
        # A character of ABNF is a number; here it is a byte.
        rule.parse_all(text.decode("latin-1"))
        print("yes")
    except ParseError:
        print("no")
