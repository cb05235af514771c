"""Counts lines of code in a folder, without blank lines, comments and docstrings."""

import ast
import io
import sys
import tokenize
from pathlib import Path

NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def docstring_lines(source: str) -> set[int]:
    """Returns the lines of every docstring."""
    lines: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            match node.body:
                case [ast.Expr(ast.Constant(str())) as docstring, *_]:
                    lines |= set(range(docstring.lineno, (docstring.end_lineno or 0) + 1))
    return lines


def code_lines(source: str) -> int:
    """Returns the number of lines that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in NO_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstring_lines(source))


if __name__ == "__main__":
    print(sum(code_lines(path.read_text()) for path in Path(sys.argv[1]).rglob("*.py")))
