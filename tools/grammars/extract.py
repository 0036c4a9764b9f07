"""Grammars that people keep in Python files, as files of their own.

`extract.py TREE` looks through every Python file under TREE, without running any,
and writes to TREE/extracted

    FILE.NAME.json  a dictionary NAME of the fuzzing book's form, with a `<start>`
    FILE.NAME.abnf  rules of ABNF: the attribute `grammar` of a class NAME

Values are constants, lists and sums of them, the names before them, and the few
functions that such files call; what else there is leaves its grammar out.
"""

import ast
import html
import json
import pathlib
import string
import sys


class Unknown(Exception):
    pass


def unlike(items):
    """A set, in an order that stays."""
    return list(dict.fromkeys(items))


# What such files call: `srange` is all characters of a text, `crange` those between
# two. Sets are lists here.
FUNCTIONS = {
    "srange": lambda text: list(text),
    "crange": lambda first, last: [chr(c) for c in range(ord(first), ord(last) + 1)],
    "list": list,
    "set": unlike,
    "OrderedSet": unlike,
    "escape": html.escape,
    "str": str,
    "chr": chr,
    "range": lambda *ends: list(range(*ends)),
}


def value(node, names):
    """The value of an expression, as far as it has one that can be known."""
    match node:
        case ast.Constant(constant):
            return constant
        case ast.Dict(keys, values):
            known = {}
            for key, item in zip(keys, values):
                inner = value(item, names)
                known.update(inner if key is None else {value(key, names): inner})
            return known
        case ast.List(items) | ast.Tuple(items) | ast.Set(items):
            return [value(item, names) for item in items]
        case ast.BinOp(left, ast.Add(), right):
            return value(left, names) + value(right, names)
        case ast.BinOp(left, ast.Sub(), right):
            without = value(right, names)
            return [item for item in value(left, names) if item not in without]
        case ast.Compare(item, [ast.NotIn()], [items]):
            return value(item, names) not in value(items, names)
        case ast.Name(name) if name in names:
            return names[name]
        case ast.Attribute(ast.Name("string"), name) if isinstance(getattr(string, name, None), str):
            return getattr(string, name)
        case ast.Call(ast.Name("opts"), [], _):
            return {}
        case ast.Call(ast.Name(name), items, []) if name in FUNCTIONS:
            return FUNCTIONS[name](*(value(item, names) for item in items))
        case ast.ListComp(item, [ast.comprehension(ast.Name(name), over, conditions, 0)]):
            cases = [{**names, name: each} for each in value(over, names)]
            return [value(item, case) for case in cases if all(value(c, case) for c in conditions)]
    raise Unknown


def assignments(body):
    for node in body:
        match node:
            case ast.Assign([ast.Name(name)], expression):
                yield name, expression
            case ast.AnnAssign(ast.Name(name), _, expression) if expression is not None:
                yield name, expression
            # `if __name__ == "__main__":` and the like.
            case ast.If(_, inner, _):
                yield from assignments(inner)


def grammars(tree):
    """Names of files and their texts."""
    names = {}
    for name, expression in assignments(tree.body):
        try:
            names[name] = value(expression, names)
        except (Unknown, TypeError, ValueError, AttributeError):
            continue
        if isinstance(names[name], dict) and "<start>" in names[name]:
            try:
                yield f"{name}.json", json.dumps(names[name], indent=1)
            except TypeError:
                continue
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for name, expression in assignments(node.body):
                if name == "grammar":
                    try:
                        rules = value(expression, names)
                    except Unknown:
                        continue
                    rules = [rules] if isinstance(rules, str) else rules
                    yield f"{node.name}.abnf", "\n".join(rules) + "\n"


def main(root):
    files = sorted(root.rglob("*.py"))
    out = root / "extracted"
    for path in files:
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):
            continue
        for name, text in grammars(tree):
            out.mkdir(exist_ok=True)
            (out / f"{path.stem}.{name}").write_text(text)


main(pathlib.Path(sys.argv[1]))
