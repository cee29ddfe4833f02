"""The command line's parser: what is typed is what a function gets, anything else is one message."""

from pathlib import Path
from typing import Annotated

import pytest

from dalembert.commandline.application import Application, Argument, Option, UsageError

CALLS = []
app = Application("prog", "1.2", "What it does.", "Exit codes.")


@app.command
def work(file: Annotated[Path, Argument("A file.", "FILE")],
         size: Annotated[int, Option(min=1, max=9, metavar="N", help="How many.")] = 3,
         step: Annotated[float | None, Option("--step", "-s", min=0, help="How far.")] = None,
         name_of_it: Annotated[str | None, Option(help="A name.")] = None,
         force: Annotated[bool, Option("--force", help="Anyway.")] = False) -> None:
    """Do the work.

    At length.
    """
    CALLS.append((file, size, step, name_of_it, force))


@app.command
def stop(number: Annotated[int, Option("--number", help="A code.")]) -> None:
    """Stop with a code."""
    raise SystemExit(number)


def called(*texts):
    CALLS.clear()
    assert app.run(["work", *texts]) == 0
    return CALLS[0]


@pytest.mark.parametrize("texts, values", [
    (["a"], (Path("a"), 3, None, None, False)), (["a", "--size", "4", "--force"], (Path("a"), 4, None, None, True)),
    (["--size=4", "a"], (Path("a"), 4, None, None, False)), (["-s", "0.5", "a"], (Path("a"), 3, 0.5, None, False)),
    (["-s0.5", "a"], (Path("a"), 3, 0.5, None, False)), (["--step", "1", "--step", "2", "a"], (Path("a"), 3, 2.0, None, False)),
    (["--name-of-it", "-0.1,2", "a"], (Path("a"), 3, None, "-0.1,2", False)), (["--name-of-it=", "a"], (Path("a"), 3, None, "", False)),
    (["--", "-a"], (Path("-a"), 3, None, None, False)), (["--step", "inf", "-"], (Path("-"), 3, float("inf"), None, False))])
def test_values_reach_the_function(texts, values):
    assert called(*texts) == values


@pytest.mark.parametrize("texts, message", [
    ([], "Missing argument 'FILE'."), (["a", "b"], "Got unexpected extra argument 'b'."),
    (["a", "0.2"], "extra argument '0.2'. Numbers of a vector are joined by commas: --q 0.1,0.2."),
    (["a", "--sise", "2"], "No such option '--sise'. Did you mean '--size'?"), (["a", "-x"], "No such option '-x'."),
    (["a", "--size", "two"], "Invalid value for '--size': 'two' is not a whole number."),
    (["a", "--size", "0"], "Invalid value for '--size': 0 is not in the range [1<=x<=9]."),
    (["a", "--size", "10"], "10 is not in the range"), (["a", "--step", "nan"], "Invalid value for '--step': nan is not in the range [x>=0]."),
    (["a", "--size"], "Option '--size' requires an argument."), (["a", "--force=yes"], "Option '--force' does not take a value."),
    (["a", "--", "--size"], "Got unexpected extra argument '--size'."), ([""], "Invalid value for 'FILE': '' names no file.")])
def test_wrong_usage_says_what_and_of_which_command(texts, message):
    with pytest.raises(UsageError) as error:
        app.run(["work", *texts])
    assert message in str(error.value) and error.value.command == "prog work"


def test_commands_that_are_unknown_or_end_with_a_code():
    assert app.run(["stop", "--number", "4"]) == 4
    for texts, message in ((["wrok"], "No such command 'wrok'. Did you mean 'work'?"), (["--frce"], "No such option '--frce'"), (["-"], "No such command '-'."), (["--", "work"], "No such command '--'.")):
        with pytest.raises(UsageError, match=message.replace("?", r"\?")) as error:
            app.run(texts)
        assert error.value.command == "prog"


def test_help_shows_every_parameter_within_80_columns(capsys):
    assert app.run(["work", "--help"]) == 0 and app.run(["--help"]) == 0 and app.run([]) == 2
    out = capsys.readouterr().out
    for part in ("usage: prog work [OPTIONS] FILE", "FILE A file. [required]", "--step VALUE, -s VALUE", "[1<=x<=9] [default: 3]",
                 "--force", "Do the work.", "At length.", "work Do the work.", "Exit codes."):
        assert part in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    assert app.run(["--version"]) == 0 and capsys.readouterr().out == "prog 1.2\n"
