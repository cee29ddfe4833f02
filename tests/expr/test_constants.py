"""Arithmetic of constants."""

import math
from fractions import Fraction

import pytest

from dalembert.expr.constants import EXACT, FLOAT, exact_value, is_normal, number, value_of


def test_numbers_are_normalised():
    assert type(number(Fraction(6, 3))) is int
    assert math.copysign(1, number(-0.0)) == 1
    assert number("2") is NotImplemented and number(1j) is NotImplemented


def test_exact_and_float_tables_cover_the_same_operations():
    assert EXACT.keys() == FLOAT.keys()


@pytest.mark.parametrize("op, values, result", [
    ("div", (1, 3), Fraction(1, 3)), ("div", (6, 3), 2), ("power", (Fraction(1, 2), 3), Fraction(1, 8)),
    ("power", (2, Fraction(1, 3)), None), ("sqrt", (Fraction(9, 4),), Fraction(3, 2)), ("sqrt", (3,), None),
    ("hypot", (3, 4), 5), ("sin", (0,), 0), ("sin", (1,), None), ("acos", (1,), 0), ("atan2", (0, 1), 0),
    ("atan2", (0, -1), None), ("sign", (-7,), -1), ("abs", (Fraction(-1, 3),), Fraction(1, 3)), ("add", (1, 2.0), None),
])
def test_exact_values(op, values, result):
    assert exact_value(op, values) == result and type(exact_value(op, values)) is type(result)


def test_a_float_makes_a_float():
    assert value_of("add", (1, 0.5)) == 1.5
    assert value_of("max", (3, 2.5)) == 3.0 and type(value_of("max", (3, 2.5))) is float


def test_normal_numbers_keep_their_digits():
    assert is_normal(1e-300) and is_normal(Fraction(1, 3)) and is_normal(-2)
    assert not any(map(is_normal, (0, 1e-310, 10**400, math.inf)))
