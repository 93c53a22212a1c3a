#include "oas/figures/html_page.hpp"

#include <fmt/format.h>

#include "oas/core/markup.hpp"

namespace oas {

namespace {

constexpr const char* kStyle = R"css(
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1c1c1c; --soft: #5a5a5a;
  --line: #dddddd; --box: #f2f6fa; --accent: #0072B2; --shade: #00000040; }
@media (prefers-color-scheme: dark) { :root { --paper: #16181b; --ink: #e8e8e8; --soft: #a8a8a8;
  --line: #3a3d41; --box: #20262d; --accent: #6cb8e6; --shade: #ffffff50; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem 1.2rem 3rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 1rem 0 .6rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .4rem; }
h3 { font-size: 1rem; margin: 1.4rem 0 .2rem; }
p { margin: .5rem 0; }
.soft { color: var(--soft); }
.answer { background: var(--box); border-left: 4px solid var(--accent); padding: .8rem 1rem;
  font-size: 1.08rem; margin: 1rem 0; }
.warning { border-left-color: #D55E00; }
figure { margin: 1rem 0; }
.pair { display: flex; flex-wrap: wrap; gap: 0 2rem; align-items: flex-end; }
.pair figure { flex: 0 1 auto; max-width: 100%; }
.pair figure + figure { flex: 1 1 20rem; }
/* A shadow at the side where there is more to see. */
.scroll { overflow-x: auto; background:
  linear-gradient(90deg, var(--paper) 40%, transparent) left / 3rem 100% no-repeat local,
  linear-gradient(270deg, var(--paper) 40%, transparent) right / 3rem 100% no-repeat local,
  linear-gradient(90deg, var(--shade), transparent) left / 1rem 100% no-repeat scroll,
  linear-gradient(270deg, var(--shade), transparent) right / 1rem 100% no-repeat scroll; }
svg.chart { width: 100%; min-width: 40rem; height: auto; display: block; }
svg.chart .paper { fill: var(--paper); }
svg.chart .ink { fill: var(--ink); }
svg.chart .grid { stroke: var(--line); }
svg.chart .axis { stroke: var(--soft); }
figcaption { color: var(--soft); font-size: .93rem; }
table { border-collapse: collapse; font-size: .9rem; margin: .6rem 0; }
th, td { padding: .25rem .6rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th.text, td.text { text-align: left; }
table.facts td { white-space: normal; text-align: left; vertical-align: top; }
th button { font: inherit; font-weight: 600; color: inherit; background: none; border: 0;
  padding: 0; cursor: pointer; }
th button::after { content: " ↕"; color: var(--soft); }
th[aria-sort=ascending] button::after { content: " ↑"; }
th[aria-sort=descending] button::after { content: " ↓"; }
pre { overflow-x: auto; background: var(--box); padding: .8rem; font-size: .82rem; }
summary { cursor: pointer; }
@media print { body { max-width: none; font-size: 11pt; }
  .scroll { overflow: visible; background: none; } svg.chart { min-width: 0; }
  th button::after { content: ""; } figure, tr { break-inside: avoid; }
  details:not([open]) { display: none; } }
)css";

constexpr const char* kScript = R"js(
document.querySelectorAll("table.sortable").forEach(function (table) {
  table.querySelectorAll("th button").forEach(function (button) {
    button.addEventListener("click", function () {
      var head = button.parentElement, body = table.tBodies[0];
      var column = Array.prototype.indexOf.call(head.parentElement.children, head);
      var down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("th").forEach(function (th) { th.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      var key = function (row) {
        var cell = row.cells[column], value = cell.dataset.value;
        return value === undefined ? cell.textContent : value === "" ? Infinity : Number(value);
      };
      Array.from(body.rows).sort(function (a, b) {
        var x = key(a), y = key(b);
        var order = typeof x === "number" ? x - y || 0 : x.localeCompare(y, "en", {numeric: true});
        return down ? -order : order;
      }).forEach(function (row) { body.appendChild(row); });
    });
  });
});
)js";

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n<style>{}</style></head>\n<body>\n"
      "{}<script>{}</script>\n</body></html>\n",
      escape_markup(title), kStyle, body, kScript);
}

}  // namespace oas
