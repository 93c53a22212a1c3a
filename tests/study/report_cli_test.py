"""The page that `oas study report` writes: complete, alone, and alive in a browser."""

import re
import unittest

from pages import BROWSER, Balance, look_at
from support import CliCase
from run_cli_test import STUDY, UNITS
from stores import changed

QUICK = """
[quick]
replications = 2
[quick.settings]
pairs = 1000
"""

# Runs in the page after it has loaded: clicks a column twice and says what it saw.
PROBE = """
  var table = document.querySelector("table.sortable"), rows = function () {
    return Array.from(table.tBodies[0].rows).map(function (r) { return r.cells[4].textContent; });
  };
  var button = table.querySelectorAll("th button")[4];
  seen.before = rows(); button.click(); seen.up = rows(); button.click(); seen.down = rows();
"""


class Page(CliCase):
    def setUp(self):
        super().setUp()
        self.write("small.toml", STUDY.replace("pairs = 60000", "pairs = 2000") +
                   'panel_label = "floor:"\n')
        self.good("study", "run", "small.toml", "-o", "r")
        self.written = self.good_json("study", "report", "r")

    def page(self):
        return self.read("r/report.html").decode()

    def test_structure(self):
        parser = Balance()
        parser.feed(self.page())
        self.assertEqual(parser.open, [])
        self.assertEqual(parser.fetched, [])
        self.assertEqual(parser.count["svg"], 1)
        self.assertNotRegex(re.sub(r"http://www.w3.org/2000/svg", "", self.page()), r"https?://")
        for part in ("A small study", "Does it survive?", self.written["answer"], "seed",
                     f"{UNITS // 6} tasks × 6 replications", "0.1.0", "per_decade = 2", "cores"):
            self.assertIn(part, self.page())
        self.assertNotIn("?", self.written["answer"])

    def test_files(self):
        names = {path.split("r/", 1)[1] for path in self.written["files"]}
        self.assertEqual(names, {"estimation.csv", "points.csv", "curves.csv", "report.html",
                                 "figures/error.svg", "figures/error.png", "figures/error.pdf"})
        self.assertTrue(self.read("r/figures/error.png").startswith(b"\x89PNG"))
        self.assertTrue(self.read("r/figures/error.pdf").startswith(b"%PDF"))
        before = self.read("r/figures/error.svg"), self.read("r/curves.csv")
        self.good("study", "report", "r")
        self.assertEqual((self.read("r/figures/error.svg"), self.read("r/curves.csv")), before)

    def test_unfinished_results_say_so(self):
        with changed(self.folder / "r/results.sqlite") as file:
            file.execute("DELETE FROM estimation WHERE unit = 3")
            file.execute("UPDATE units SET status = 'failed', message = 'a <bad> day' "
                         "WHERE number = 3")
        text = self.good("study", "report", "r")
        self.assertIn("1 of 24 tasks are not finished", self.page())
        self.assertIn("failed: a &lt;bad&gt; day", self.page())
        self.assertRegex(text, r"^unfinished, 1 of 24 tasks are missing; so far: Exponent −0\.")
        report = self.good_json("study", "report", "r")
        self.assertEqual((report["tasks"], report["missing"]), (24, 1))

    def test_no_answer_without_data(self):
        with changed(self.folder / "r/results.sqlite") as file:
            file.execute("DELETE FROM units")
            file.execute("DELETE FROM estimation")
        text = self.good("study", "report", "r")
        self.assertTrue(text.startswith("unfinished, 24 of 24 tasks are missing; no answer yet\n"))
        self.assertNotIn("Exponent", self.page().split("<main>")[0])
        self.assertEqual(self.good_json("study", "report", "r")["answer"], "")

    def test_the_quick_version_speaks_of_itself(self):
        study = STUDY.replace("pairs = 60000", "pairs = 2000")
        study = study.replace(
            "[[figure]]", '[[figure]]\ncaption = "{replications} runs of {pairs} pairs."')
        study = study.replace("question =", 'expectation = "It does."\nquestion =')
        self.write("quick.toml", study + QUICK)
        self.good("study", "run", "quick.toml", "--quick", "-o", "q")
        self.good("study", "report", "q")
        page = self.read("q/report.html").decode()
        self.assertIn("Quick version: ", page)
        self.assertIn("2 runs of 1,000 pairs. Lines are means over 2 runs of 1,000 pairs of steps",
                      page)
        self.assertIn("Expected: It does.", page)
        self.assertNotIn("The paper", page)
        self.assertNotIn("Quick version: ", self.page())

    def test_numbers_for_people(self):
        head = re.search(r"<thead>.*?</thead>", self.page(), re.S).group(0)
        self.assertIn(">floor<", head)
        self.assertRegex(self.page(), r">−0\.\d+<")
        self.assertNotRegex(self.page(), r">-\d")

    @unittest.skipUnless(BROWSER, "no chromium here")
    def test_in_a_browser(self):
        for width in (390, 1200):
            seen = look_at(self.folder, self.page(), PROBE, width)
            self.assertEqual(seen["figures"], [True])
            self.assertEqual(seen["requests"], [])
            self.assertFalse(seen["wide"])
            numbers = [float(text) for text in seen["up"]]
            self.assertEqual(numbers, sorted(numbers))
            self.assertEqual(seen["down"], seen["up"][::-1])
            self.assertEqual(sorted(seen["before"]), sorted(seen["up"]))


if __name__ == "__main__":
    unittest.main()
