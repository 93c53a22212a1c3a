"""The page of `oas agent --http` in a browser that clicks."""

import os
import sys
import tempfile
import unittest

import browser
from agent_http_test import TOKEN, Served
from support import CliCase

NOT_RUN = 77  # what ctest knows as skipped


# The least contrast of a text to its ground (WCAG 2: 4.5 can be read), which text that is, and the
# luminance of the page.
CONTRAST = """
const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const luminance = (color) => {
  const [r, g, b] = numbers(color).slice(0, 3).map((v) => linear(v / 255));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = (element) => {
  for (; element; element = element.parentElement) {
    const color = getComputedStyle(element).backgroundColor;
    if (!(numbers(color)[3] === 0)) return color;
  }
  return 'rgb(255, 255, 255)';
};
const texts = [...document.querySelectorAll('h1, h2, p, td, th, button, summary, label')]
  .filter((e) => e.offsetParent !== null && e.innerText.trim() && !e.disabled)
  .map((e) => {
    const [a, b] = [luminance(getComputedStyle(e).color), luminance(ground(e))];
    return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 200)];
  });
return [...texts.reduce((least, one) => one[0] < least[0] ? one : least),
        luminance(ground(document.body))];
"""


class AgentPage(CliCase):
    def serve(self, *options):
        return Served(self.folder, *options)

    def test_the_page_in_a_browser(self):
        self.write("tokens", TOKEN + "\n")
        os.chmod(os.path.join(self.folder, "tokens"), 0o600)
        with self.serve("--token-file", "tokens", "--set", "first_episode=50",
                        "--synchronous") as agent, \
                tempfile.TemporaryDirectory() as profile:
            headers = {"Authorization": "Bearer " + TOKEN}
            for i in range(14):
                for call, step in [("act", 0)] + [("step", t) for t in range(12)]:
                    more = {} if call == "act" else {"observation": "scrap" if i % 3 else "clean"}
                    status, answer = agent.ask(call, headers, unit=f"<b>m{i:02}", step=step, **more)
                    self.assertEqual(status, 200, answer)
            for width, dark in ((390, False), (390, True), (1200, True)):
                with tempfile.TemporaryDirectory() as other, \
                        browser.Browser(other, width, dark=dark) as page:
                    self.show(page, agent)
                    self.assertFalse(page.run("return document.documentElement.scrollWidth > "
                                              "window.innerWidth + 1"))
                    contrast, where, ground = page.run(CONTRAST)
                    self.assertGreater(contrast, 4.5, f"{where}, dark: {dark}")
                    self.assertEqual(ground < 0.2, dark)
            with browser.Browser(profile) as page:
                self.look_at_the_page(page, agent, headers)

    def show(self, page, agent):
        page.open(agent.url + "/")
        page.wait("return !document.getElementById('login').hidden")
        page.type("#token", "wrong-token-wrong-token")
        page.click("#login button")
        page.wait("return document.getElementById('state').innerText.includes('not one of')")
        page.run("document.getElementById('token').value = ''")
        page.type("#token", TOKEN)
        page.click("#login button")
        page.wait("return document.querySelectorAll('#unit-table tr.unit').length > 0")

    def look_at_the_page(self, page, agent, headers):
        self.show(page, agent)
        rows = "return document.querySelectorAll('#unit-table tr.unit').length"
        self.assertEqual(page.run(rows), 12)
        page.click("#all")
        self.assertEqual(page.run(rows), 14)
        first = "return document.querySelector('#unit-table tr.unit').dataset.unit"
        self.assertEqual(page.run(first), "<b>m00")
        page.click("#unit-table th:first-child button")
        self.assertEqual(page.run(first), "<b>m13")
        page.type("#find", "m07")
        page.wait(rows + " === 1")
        page.click("#unit-table tr.unit")
        page.wait("return document.querySelector('#unit-table tr.more svg.plot') !== null")
        self.assertIn("It waits for observe of step 12", page.text("#unit-table tr.more"))
        page.click("#dynamics-actions button:nth-child(2)")
        page.click("#transition tbody tr:nth-child(2) td:nth-child(3) button")
        estimate = agent.ask("estimate", headers)[1]
        action, state = estimate["actions"][1], estimate["states"][1]
        page.wait("return document.getElementById('entry-caption').innerText.includes("
                  f"'Under “{action}” from “{state}” to')")
        self.assertTrue(page.run("return document.querySelector('#entry-chart polyline') !== null"))
        shown = page.text("#transition tbody tr:nth-child(2) td:nth-child(3)")
        self.assertIn(f"{estimate['transition'][1][1][1]:.3f}", shown)
        self.assertIn("expects", page.text("#gain-text"))
        bars = page.text("#action-bars")
        for name, count in zip(estimate["actions"], estimate["plays"]):
            self.assertRegex(bars, rf"{name}\s+{count:,} ")
        status, answer = agent.ask("step", headers, unit="<b>m07", step=12, observation="scrap")
        self.assertEqual(status, 200, answer)
        page.wait("return document.querySelector('tr.more').innerText.includes('of step 13')")
        self.assertIn("Live, as of", page.text("#state"))
        agent.process.kill()
        agent.process.wait()
        page.wait("return document.getElementById('state').className.includes('lost')")
        noise = [line for line in page.console() if "Failed to load resource" not in line
                 and "401" not in line]
        self.assertEqual(noise, [])


if __name__ == "__main__":
    if not browser.BOTH:
        print("NOT RUN: there is no chromium with chromedriver here (scripts/setup --full)")
        sys.exit(NOT_RUN)
    unittest.main()
