# SPDX-License-Identifier: Apache-2.0
"""The Boolean functions of Liberty's cells."""
import functools
import itertools
import re


def expression(text):
    """A Liberty Boolean function as Python: !a, a', a*b, a&b, a b, a+b, a|b, a^b become functions of the names.
    Another text raises IndexError or SyntaxError."""
    tokens = re.findall(r"[A-Za-z_]\w*|[!'*&+|^()01]|\S", text)

    depths = list(itertools.accumulate(((t == "(") - (t == ")") for t in tokens), initial=0))

    def chain(inner, sign, operators, ends):
        """Terms of `inner` joined by an operator, or by none up to one of `ends`."""
        def level(pos):
            begin = pos
            left, pos = inner(pos)
            while pos < len(tokens) and (tokens[pos] in operators or (ends and tokens[pos] not in ends)):
                right, pos = inner(pos + (tokens[pos] in operators))
                left = f"({left}{sign}{right})"
                if sign == "&" and any(t == "^" and depths[i] == depths[begin] for i, t in enumerate(tokens[begin:pos], begin)):
                    raise SyntaxError
            return left, pos
        return level

    def unary(pos):
        if tokens[pos] == "!":
            inner, pos = unary(pos + 1)
            out = f"(ONE^{inner})"
        elif tokens[pos] == "(":
            out, pos = either(pos + 1)
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

    # Yosys and OpenSTA read A^B*C as (A^B)*C, ABC as A^(B*C).
    either = chain(chain(chain(unary, "^", "^", ""), "&", "*&", "+|)"), "|", "+|", "")
    out, end = either(0)
    if end != len(tokens):
        raise SyntaxError
    return out


@functools.lru_cache(maxsize=None)
def compiled(text):
    return compile(expression(text), text, "eval")


def evaluate(text, values, one=1):
    """The function's value for {name: bits}; `one` is the word of all ones."""
    return eval(compiled(text), {"ONE": one, "ZERO": one ^ one}, values)
