"""Names and sentences of the sources: docstrings that begin with the thing, names that stand once."""

import ast
import re
import tokenize
from collections import defaultdict

from sources import PACKAGE as ROOT
from sources import parsed

# Names that stand more than once: none.
CLASSES_TWICE: set[str] = set()
FILES_TWICE: set[str] = set()
PRONOUN = re.compile(r"(What|Whatever|Those|One|Of|As for|That|There|It|They|This|These|Which|Whoever|Where|Who|Such|For)\b")
PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=\n\n[^\n]+\n---|\Z)", re.DOTALL | re.MULTILINE)
PARAMETER = re.compile(r"[\w, *]+ : |[^\n]+\n    |    ")
SUBJECT = re.compile(r"(^|[,;:] )(what|those|one) ")      # of a clause that has no noun
COMMENT = re.compile(r"#\s*(what|whatever|those|one|as for|that|there|it|they|these|which|whoever)\b", re.IGNORECASE)
QUOTED = re.compile(r"'[^']*'|`[^`]*`")
Definition = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        yield path, path.relative_to(ROOT).as_posix()


def documented():
    """(place, first paragraph of the docstring) of every module, class and function."""
    for path, name in sources():
        for node in ast.walk(parsed(path)):
            if isinstance(node, Definition) and (text := ast.get_docstring(node)):
                yield f"{name}:{getattr(node, 'lineno', 1)}", " ".join(text.split("\n\n")[0].split())


def comments():
    """(place, text) of every comment; of comments in several lines, the first."""
    for path, name in sources():
        with path.open(encoding="utf-8") as file:
            last = (-2, 0)
            for token in tokenize.generate_tokens(file.readline):
                if token.type == tokenize.COMMENT:
                    if last != (token.start[0] - 1, token.start[1]):
                        yield f"{name}:{token.start[0]}", token.string
                    last = token.start


def undocumented(node, place=""):
    """Functions with public names and no docstring; overloads have that of their implementation, quantities the plain function's."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{place}.{child.name}"
            decorators = {ast.unparse(d) for d in child.decorator_list}
            if not child.name.startswith("_") and not ast.get_docstring(child) and not decorators & {"overload", "quantity"}:
                yield name
            yield from undocumented(child, name)
        elif isinstance(child, ast.stmt):
            yield from undocumented(child, place)


def test_functions_with_public_names_have_docstrings():
    bare = [name for path, file in sources() for name in undocumented(parsed(path), file)]
    assert not bare, bare


def test_docstrings_begin_with_the_thing_or_the_verb():
    faults = [f"{place} {text}" for place, text in documented()
              if PRONOUN.match(text) or SUBJECT.search(QUOTED.sub("", text))]
    assert not faults, "\n".join(faults)


def test_prose_stands_before_the_parameters():
    """Among them its words would be names of parameters on the pages of the reference."""
    faults = [
        f"{name}:{node.lineno} {paragraph[:60]}"
        for path, name in sources() for node in ast.walk(parsed(path))
        if isinstance(node, Definition) and (found := PARAMETERS.search(ast.get_docstring(node) or ""))
        for paragraph in found[1].split("\n\n") if not PARAMETER.match(paragraph)
    ]
    assert not faults, "\n".join(faults)


def test_comments_have_a_noun():
    faults = [f"{place} {text}" for place, text in comments() if COMMENT.match(text)]
    assert not faults, "\n".join(faults)


def test_the_rule_finds_what_the_style_guide_shows():
    for text in ("What watches a motion has parameters", "Of one call, the mean", "f traced: what is put", "Names, those of q first"):
        assert PRONOUN.match(text) or SUBJECT.search(text)
    for text in ("The mean of the calls", "Whether a pivot is small", "'warning: what (file)' in a line"):
        assert not PRONOUN.match(text) and not SUBJECT.search(QUOTED.sub("", text))
    assert COMMENT.match("# what is left") and not COMMENT.match("# of the largest entry")


def twice(names):
    homes = defaultdict(list)
    for name, home in names:
        homes[name].append(home)
    return {name: where for name, where in homes.items() if len(where) > 1}


def test_a_class_name_stands_once():
    classes = twice((node.name, name) for path, name in sources() for node in ast.walk(parsed(path))
                    if isinstance(node, ast.ClassDef))
    assert classes.keys() <= CLASSES_TWICE, classes


def test_a_file_name_stands_once():
    files = twice((path.name, name) for path, name in sources() if not path.name.startswith("__"))
    assert files.keys() <= FILES_TWICE, files
