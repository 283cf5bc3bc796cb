# SPDX-License-Identifier: Apache-2.0
"""The Boolean functions of Liberty's cells."""
import functools
import re


def expression(text):
    """A Liberty Boolean function as Python: !a, a', a*b, a&b, a b, a+b, a|b, a^b become functions of the names.
    Another text raises IndexError or SyntaxError."""
    tokens = re.findall(r"[A-Za-z_]\w*|[!'*&+|^()01]|\S", text)

    def xor_level(pos):
        left, pos = and_level(pos)
        while pos < len(tokens) and tokens[pos] == "^":
            right, pos = and_level(pos + 1)
            left = f"({left}^{right})"
        return left, pos

    def or_level(pos):
        left, pos = xor_level(pos)
        while pos < len(tokens) and tokens[pos] in "+|":
            right, pos = xor_level(pos + 1)
            left = f"({left}|{right})"
        return left, pos

    def and_level(pos):
        left, pos = unary(pos)
        while pos < len(tokens) and tokens[pos] not in "+|^)":
            right, pos = unary(pos + (tokens[pos] in "*&"))
            left = f"({left}&{right})"
        return left, pos

    def unary(pos):
        if tokens[pos] == "!":
            inner, pos = unary(pos + 1)
            out = f"(ONE^{inner})"
        elif tokens[pos] == "(":
            out, pos = or_level(pos + 1)
            if tokens[pos] != ")":
                raise SyntaxError
            pos += 1
        elif not re.fullmatch(r"\w+", tokens[pos]):
            raise SyntaxError
        else:
            out = {"0": "ZERO", "1": "ONE"}.get(tokens[pos], tokens[pos])
            pos += 1
        while pos < len(tokens) and tokens[pos] == "'":
            out, pos = f"(ONE^{out})", pos + 1
        return out, pos

    out, end = or_level(0)
    if end != len(tokens):
        raise SyntaxError
    return out


@functools.lru_cache(maxsize=None)
def compiled(text):
    return compile(expression(text), text, "eval")


def evaluate(text, values, one=1):
    """The function's value for {name: bits}; `one` is the word of all ones."""
    return eval(compiled(text), {"ONE": one, "ZERO": one ^ one}, values)
