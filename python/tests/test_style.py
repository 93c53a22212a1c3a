"""Types, style and stubs of the package itself."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

import oas


def run(*words, cwd):
    done = subprocess.run(
        [sys.executable, "-m", *words], capture_output=True, text=True, check=False, cwd=cwd
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("ruff", "check", "--no-cache", "python"),
        ("ruff", "format", "--no-cache", "--check", "python"),
        ("mypy", "--strict", "--cache-dir=/dev/null", "python/oas"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_checkers_find_nothing(words, root):
    run(*words, cwd=root)


def tool(root, name):
    place = root / "python" / "tools" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, place


def test_committed_stubs_are_those_of_the_extension(root):
    module, place = tool(root, "make_stubs")
    committed = (root / "python" / "oas" / "_oas.pyi").read_text(encoding="utf-8")
    assert module.stub() == committed, f"run {place} python/oas/_oas.pyi"


def test_docstrings_say_what_the_command_and_the_headers_say(root):
    module, place = tool(root, "make_docstrings")
    for path, text in module.files().items():
        assert path.read_text(encoding="utf-8") == text, f"run {place}"


def test_all_that_is_public_has_its_words_from_one_place(root):
    module, _ = tool(root, "make_docstrings")
    shared = {name for _, name, _, _ in module.beginnings()} | set(module.FROM_C)
    own = [name for names in module.OWN_WORDS.values() for name in names]
    assert len(own) == len(set(own)) and not shared & set(own)
    assert shared | set(own) == set(oas.__all__) - {"__version__"}
    docs, _ = tool(root, "make_docs")
    said = {}
    for header in ("learning/any_agent", "model/trajectory", "planning/plan"):
        said.update(docs.comments((root / "src" / "oas" / f"{header}.hpp").read_text("utf-8")))
    for name, theirs in module.FROM_C.items():
        assert getattr(oas, name).__doc__.startswith(said[theirs, "self"])


def test_docstrings_of_results_are_the_comments_of_the_headers(root):
    module, _ = tool(root, "make_docs")
    for header, name, held in (
        ("estimation/transition_estimate.hpp", "TransitionEstimate", oas.Estimate),
        ("planning/plan.hpp", "Plan", oas.Plan),
    ):
        said = module.comments((root / "src" / "oas" / header).read_text("utf-8"))
        ours = {
            member: text for (owner, member), text in said.items()
            if owner == name and isinstance(getattr(held, member, None), property)
        }  # fmt: skip
        assert len(ours) > 6 and (name != "Plan" or held.__doc__ == said["Plan", "self"])
        for member, text in ours.items():
            if member not in ("flagged", "transition"):  # other types than in C++
                assert getattr(held, member).__doc__ == text, member


def test_comments_are_read_as_they_stand(root):
    module, _ = tool(root, "make_docs")
    header = """
/// Two lines
/// about it.
struct Thing {
  explicit Thing(int);
  std::vector<double> table;  ///< [a][s']: null where
                              ///< nothing is known
  int silent = 0;
  /// Cost: none.
  [[nodiscard]] int size() const { return 0; }
};
struct Other;
/// Does it. And more.
[[nodiscard]] std::vector<Thing> things(int count,
                                        int more);
"""
    assert module.comments(header) == {
        ("Thing", "self"): "Two lines about it.",
        ("Thing", "table"): "[A][S]: None where nothing is known.",
        ("Thing", "size"): "Cost: none.",
        ("", "things"): "Does it. And more.",
    }
    made = module.constants([header])
    assert made.count("inline constexpr") == 3 and "docs::Thing {" in made


def test_all_that_is_public_has_a_docstring():
    for name in oas.__all__:
        thing = getattr(oas, name)
        assert name.startswith("__") or thing.__doc__, name
    assert Path(oas.__file__).with_name("py.typed").exists()
