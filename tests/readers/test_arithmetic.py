"""Arithmetic as text: exact values, the way back, and hostile texts."""

import math
import pickle
from fractions import Fraction

import pytest

import dalembert as da
from dalembert.model.numbers import Literal
from dalembert.readers.arithmetic import MAX_TEXT, given_angle, number_text, parse_number
from dalembert.spatial.angles import PiMultiple


@pytest.fixture(autouse=True)
def graph():
    with da.Graph() as opened:
        yield opened


@pytest.mark.parametrize(("text", "value"), [
    ("3", 3), (" 0.25 ", Fraction(1, 4)), ("-1e-3", Fraction(-1, 1000)), ("0.1 + 0.2", Fraction(3, 10)),
    ("1/3", Fraction(1, 3)), ("2*(3 - 5)", -4), ("-2**2", -4), ("2**-1*3", Fraction(3, 2)), ("2**3**2", 512), ("2*-3", -6),
    ("7 - 2 - 1", 4),
    ("sqrt(9/4)", Fraction(3, 2)), ("sin(pi/6)", Fraction(1, 2)), ("cos(2*pi/3)", Fraction(-1, 2)), ("tan(pi)", 0),
    ("maximum(1, 2)", 2), ("abs(-3)", 3),
])
def test_rational_arithmetic_is_exact(text, value):
    result = parse_number(text)
    assert result == value and not isinstance(result, float)


@pytest.mark.parametrize(("text", "turns"), [
    ("pi", 1), ("-pi/2", Fraction(-1, 2)), ("2*pi/3", Fraction(2, 3)), ("pi*0.25", Fraction(1, 4)), ("0*pi", 0),
    ("pi/2 + pi/4", Fraction(3, 4)), ("pi - pi/3", Fraction(2, 3)), ("-(pi)", -1),
])
def test_rational_multiples_of_pi_stay_exact(text, turns):
    assert parse_number(text) == PiMultiple(turns)


@pytest.mark.parametrize(("text", "value"), [
    ("pi**2", math.pi**2), ("pi + 1", math.pi + 1), ("sqrt(pi)", math.sqrt(math.pi)), ("float(0.1)", 0.1),
    ("cos(pi/7)", math.cos(math.pi / 7)),
])
def test_other_uses_of_pi_are_floats(text, value):
    assert parse_number(text) == value and isinstance(parse_number(text), float)


def test_decimal_keeps_its_text():
    assert parse_number("-0.3330").text == "-0.3330"


def test_names_are_symbols_of_the_current_graph(graph):
    l1 = da.symbol("l1")
    assert parse_number("2*l1 + 1/2") is 2 * l1 + Fraction(1, 2)
    assert parse_number("l[0]*l[1]") is da.symbol("l[0]") * da.symbol("l[1]")
    assert parse_number("symbol('upper arm')") is da.symbol("upper arm")
    assert parse_number("sqrt(2)*l1") is da.sqrt(da.constant(2)) * l1


@pytest.mark.parametrize("x", [
    0, -7, 10**30, Fraction(1, 3), Fraction(-333, 1000), Fraction(1, 2**40), Literal("0.10"),
    Literal("-.5e-3"), Literal("007"), 0.5, 0.1, -1e-7, 1e22, 5e-324, 1.7976931348623157e308, PiMultiple(0),
    PiMultiple(Fraction(-5, 7)),
])
def test_text_of_a_number_reads_back_equal(x):
    assert parse_number(number_text(x)) == x


@pytest.mark.parametrize("name", ["nan", "Inf", "None", "sin", "pi", "\u03c0", "l\u00b2", "x\u0661", "\u00bd", "symbol", "m\u2081", "l_1", "infinite"])
def test_a_symbol_of_any_name_reads_back(graph, name):
    x = 2 * da.symbol(name) + 1
    assert parse_number(number_text(x)) is x or str(parse_number(number_text(x))) == str(x)


def test_the_letter_pi_is_pi():
    assert parse_number("\u03c0/2") == PiMultiple(Fraction(1, 2))


def test_text_of_a_number_is_short():
    numbers = (Literal("0.10"), Fraction(333, 1000), Fraction(-1, 3), 0.5, 0.1, PiMultiple(Fraction(2, 3)))
    assert [*map(number_text, numbers)] == ["0.10", "0.333", "-1/3", "0.5", "float(0.1)", "2*pi/3"]


def test_text_of_an_expression_reads_back_as_the_same_node():
    x, y, pi, sin = (da.symbol(name) for name in ("x", "y", "pi", "sin"))
    quoted = da.symbol("it's \"0.1\" Fraction(1, 2)")
    for e in (x + Fraction(1, 3), -2 * x / 3, 0.1 + x, -0.3 * x, (x - y) - (y - x), x**Fraction(1, 3), (0.5 * x)**-3,
              da.sqrt(da.constant(2)) * x, da.minimum(x, y) / da.absolute(y), da.atan2(x, y), 1e22 * x + 1e-7,
              da.where((x < y) | ~(x <= 0.5), x, Fraction(-1, 3)), pi + sin + da.sin(sin) * pi, quoted + 0.1):
        assert parse_number(number_text(e)) is e


@pytest.mark.parametrize(("text", "message"), [
    ("", "an empty text"), ("1 +", "a number is missing, in '1 +' at column 4"), ("(1", "expected ')' at the end"),
    ("1 2", "unexpected '2', in '1 2' at column 3"), ("a = 3", "unexpected character '='"),
    ("os.system", "unexpected character '.'"),
    ("__import__('os')", "unknown function '__import__'"), ("sin(1, 2)", "sin takes 1 argument, not 2"),
    ("1/0", "the quotient is not a finite number"), ("l/0", "the quotient"), ("pi/0", "the quotient"),
    ("sqrt(-1)", "square root of a negative"), ("x < y", "this is a condition, not a number"),
    ("1 < 2", "a condition between constants"),
    ("symbol(x)", "symbol needs a name in quotes"), ("1e999", "too large"), ("1e300*1e300", "too large"),
    ("1e-300*1e-300", "too small"),
    ("float(x)", "no value until"), ("x + 1.5.2", "unexpected"), ("2pi", "'2pi' is no decimal number like 0.25 or 1e-3; a product is 2*pi"),
    *((text, f"{text!r} is not a finite number; a symbol of that name is symbol({text!r})")
      for text in ("nan", "NaN", "NAN", "inf", "Inf", "infinity", "Infinity", "None", "null", "true", "False", "\uff4e\uff41\uff4e")),
    ("-inf", "'inf' is not a finite number"), ("2*nan", "'nan' is not a finite number"), ("sqrt(inf)", "'inf' is not a finite"),
    ("0x10", "'0x10' is no decimal number"), ("1_000", "'1_000' is no decimal number"), ("0b1", "'0b1' is no decimal number"),
    ("90deg", "'90deg' is no decimal number"), ("1e", "'1e' is no decimal number"), ("1j", "'1j' is no decimal number"),
    ("1e+", "'1e' is no decimal number"), ("1,5", "unexpected ','"), ("1 000", "unexpected '000'"),
    ("\u0661\u0662", "unexpected character '\u0661'"), ("\uff11", "unexpected character '\uff11'"), ("x\u0661", "has digits other than 0 to 9"),
    ("\u00bd", "'\u00bd' has digits other than 0 to 9"), ("\u2167", "'\u2167' has digits other than"), ("l\u00b2", "has a superscript; write ** for a power"),
    ("\u22121", "unexpected character '\u2212' (write -)"), ("1\u22121", "(write -)"), ("2\u00d73", "(write *)"), ("\u221e", "(numbers are finite)"),
    ("90\u00b0", "(angles are in radians, 90 degrees are pi/2)"), ("2^3", "(write ** for a power)"), ("${l}", "(nothing is expanded)"),
    ("sin", "'sin' is a function and needs parentheses; a symbol of that name is symbol('sin')"),
])
def test_bad_text_is_an_error_that_says_where(text, message):
    with pytest.raises(ValueError, match="^mass of body 'b': ") as caught:
        parse_number(text, "mass of body 'b'")
    assert message in str(caught.value)


@pytest.mark.parametrize("text", [
    "9**9**9", "((((9**16)**16)**16)**16)**16", "2**2**2**2**2**2", "(" * 5000, "-" * 9000 + "1",
    "sin(" * 2000 + "1" + ")" * 2000,
    "9" * 5000, "1" * (MAX_TEXT + 1), "1e999999999", "10**100*10**100*10**100*10**100",
    "2**(" * 200 + "2" + ")" * 200, "'" * 9999,
])
def test_hostile_text_is_refused_at_once(text):
    with pytest.raises(ValueError, match=".{10}") as caught:
        parse_number(text)
    assert len(str(caught.value)) < 400


def test_long_harmless_text_is_read():
    assert parse_number("+".join(["1"] * 4000)) == 4000


def test_float_angle_that_rounds_a_multiple_of_pi_becomes_exact():
    assert given_angle(math.pi / 2, "alpha") == PiMultiple(Fraction(1, 2))
    assert given_angle(-2 * math.pi / 3, "alpha") == PiMultiple(Fraction(-2, 3))
    assert given_angle(1.5708, "alpha") == 1.5708


def test_a_number_that_is_not_finite_has_no_text():
    with pytest.raises(ValueError, match="finite"):
        number_text(math.inf)


def test_literals_compare_with_floats_and_pickle():
    assert Literal("0.5") == 0.5 and Literal("0.1") != 0.1 and Literal("0.1") < 0.2
    assert pickle.loads(pickle.dumps(Literal("0.10"))).text == "0.10"
