"""Pages that the command writes, checked as text and in a real browser."""

import html.parser
import json
import re
import shutil
import subprocess

BROWSER = shutil.which("chromium")

LOOK = """<script>
window.addEventListener("load", function () {
  var seen = {};
%s
  seen.figures = Array.from(document.querySelectorAll("svg.chart")).map(function (s) {
    var box = s.getBoundingClientRect(); return box.width > 300 && box.height > 90; });
  seen.requests = performance.getEntriesByType("resource").map(function (e) { return e.name; });
  seen.wide = document.documentElement.scrollWidth > window.innerWidth + 1;
  document.body.setAttribute("data-seen", JSON.stringify(seen));
});
</script></body>"""


class Balance(html.parser.HTMLParser):
    """Checks that tags close, and collects whatever would be fetched."""
    VOID = {"meta", "link", "br", "img", "input"}

    def __init__(self):
        super().__init__()
        self.open, self.fetched, self.count = [], [], {}

    def handle_starttag(self, tag, attrs):
        self.count[tag] = self.count.get(tag, 0) + 1
        self.fetched += [v for k, v in attrs if k in ("src", "href") and not v.startswith("data:")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-3:]}"
        self.open.pop()


def look_at(folder, page, probe="", width=1200):
    """Loads a page and returns what a script in it saw: `probe` may add to the object `seen`."""
    (folder / "probe.html").write_text(page.replace("</body>", LOOK % probe), encoding="utf-8")
    result = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
         f"--user-data-dir={folder}/profile", f"--window-size={width},900",
         "--enable-logging=stderr", "--virtual-time-budget=3000", "--dump-dom",
         f"file://{folder}/probe.html"],
        capture_output=True, text=True, check=True, timeout=120)
    assert "CONSOLE" not in result.stderr, result.stderr
    found = re.search(r'data-seen="([^"]*)"', result.stdout)
    assert found, result.stdout[-500:]
    return json.loads(found.group(1).replace("&quot;", '"'))
