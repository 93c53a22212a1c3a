
"use strict";
(function () {
  const COLORS = ["#0072B2", "#E69F00", "#D55E00", "#CC79A7", "#009E73", "#56B4E9", "#8C6D46"];
  const MANY = 1000;       // units that are asked for at once
  const FEW = 12;          // units that are shown at first
  const INTERVAL = 2000;   // milliseconds between two looks
  const $ = id => document.getElementById(id);
  let token = "";
  try { token = sessionStorage.getItem("oas-token") || ""; } catch (error) { /* no storage */ }
  let status = null, estimate = null, plan = null, history = null;
  let shownPlans = -1, action = 0, from = 0, to = 0;
  let sortKey = "unit", down = false, open = null, starts = [""], outlook = null, few = true;

  class NoToken extends Error {}

  async function ask(call, body) {
    const headers = {"Content-Type": "application/json"};
    if (token) headers.Authorization = "Bearer " + token;
    const reply = await fetch("v1/" + call, {method: "POST", headers, body: JSON.stringify(body)});
    const answer = await reply.json();
    if (reply.status === 401) throw new NoToken(answer.error);
    if (!answer.ok) throw new Error(answer.error);
    return answer;
  }

  // Elements. All that comes from the agent goes through textContent.
  function make(tag, options, children) {
    const element = document.createElement(tag);
    Object.entries(options || {}).forEach(([name, value]) => {
      if (name === "text") element.textContent = value;
      else if (name === "on") Object.entries(value).forEach(e => element.addEventListener(...e));
      else element.setAttribute(name, value);
    });
    element.append(...(children || []));
    return element;
  }
  function draw(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    if (text !== undefined) element.textContent = text;
    return element;
  }
  const color = i => COLORS[i % COLORS.length];
  const whole = n => Number(n).toLocaleString("en");
  const plain = (x, digits) => x === null || x === undefined ? "–"
    : x.toFixed(digits).replace("-", "−");
  const likeliest = belief => belief.reduce((best, p, i) => p > belief[best] ? i : best, 0);

  function showState(kind, text) {
    $("state").className = "state " + kind;
    $("state").textContent = text;
  }

  function showFacts() {
    const facts = [["units", whole(status.active_units)], ["steps", whole(status.rows)],
      ["plans", whole(status.plans) + (status.planning ? " + 1 under way" : "")]];
    $("agent").textContent = status.agent;
    document.title = status.agent + (status.warnings.length ? " (!)" : "");
    $("facts").replaceChildren(...facts.map(([name, value]) =>
      make("span", {}, [make("b", {text: value}), make("span", {text: name, class: "soft"})])));
  }

  function showAlarms() {
    $("alarms").replaceChildren(...(status.warnings.length
      ? status.warnings.map(text => make("p", {text, class: "answer warning", role: "alert"}))
      : [make("p", {text: "No alarms.", class: "soft"})]));
  }

  function beliefBar(belief) {
    const words = belief.map((p, i) => status.states[i] + " " + plain(p, 3)).join(", ");
    const bar = draw("svg", {class: "belief", viewBox: "0 0 100 10", preserveAspectRatio: "none",
      role: "img", "aria-label": words});
    let left = 0;
    belief.forEach((p, i) => {
      bar.append(draw("rect", {x: 100 * left, y: 0, width: 100 * p, height: 10, fill: color(i)}));
      left += p;
    });
    return bar;
  }

  function beliefCell(unit) {
    if (!unit.belief) return make("td", {text: "no plan yet", class: "text soft"});
    const best = likeliest(unit.belief);
    return make("td", {class: "text"}, [beliefBar(unit.belief), make("span", {class: "soft",
      text: status.states[best] + " " + plain(unit.belief[best], 2)})]);
  }

  function sortValue(unit) {
    if (sortKey === "belief") {
      if (!unit.belief) return Infinity;
      const best = likeliest(unit.belief);
      return best + 1 - unit.belief[best];
    }
    const value = unit[sortKey];
    return value === null || value === undefined ? "" : value;
  }
  function order(a, b) {
    const x = sortValue(a), y = sortValue(b);
    const sign = typeof x === "number" && typeof y === "number" ? x - y || 0
      : String(x).localeCompare(String(y), "en", {numeric: true});
    return down ? -sign : sign;
  }

  function unitRow(unit) {
    const bad = count => ({text: whole(count), class: count ? "wide bad" : "wide"});
    const toggle = () => { open = open === unit.unit ? null : unit.unit; outlook = null;
      showUnits(); if (open) look_ahead(unit); };
    const row = make("tr", {class: unit.ended ? "unit ended" : "unit", tabindex: 0,
      "aria-expanded": String(open === unit.unit), "data-unit": unit.unit,
      on: {click: toggle, keydown: e => { if (e.key === "Enter") toggle(); }}}, [
      make("td", {class: "text", text: unit.unit}), beliefCell(unit),
      make("td", {class: "text", text: unit.ended ? "ended" : unit.action === null ? "–"
        : unit.action}),
      make("td", {text: whole(unit.step)}), make("td", {class: "wide", text: whole(unit.run)}),
      make("td", {class: "wide", text: whole(unit.missing)}), make("td", bad(unit.impossible))]);
    return open === unit.unit ? [row, moreRow(unit)] : [row];
  }

  function moreRow(unit) {
    const cell = make("td", {colspan: 7});
    if (unit.belief) {
      cell.append(make("p", {text: unit.belief.map((p, i) =>
        status.states[i] + " " + plain(p, 4)).join(" · ")}));
    }
    cell.append(make("p", {class: "soft", text: unit.ended ? "Its run has ended."
      : "It waits for " + unit.next + " of step " + whole(unit.step) + "; " + whole(unit.rows)
        + " steps so far, " + whole(unit.missing) + " without a reading, " + whole(unit.impossible)
        + " with one that could not be."}));
    if (outlook && outlook.unit === unit.unit) cell.append(...outlookParts());
    return make("tr", {class: "more"}, [cell]);
  }

  // What becomes of the unit if its present action goes on.
  async function look_ahead(unit) {
    if (unit.action === null || !unit.belief) return;
    try {
      const answer = await ask("forecast", {unit: unit.unit, steps: 50, actions: [unit.action]});
      outlook = {unit: unit.unit, action: unit.action, states: answer.states};
      showUnits();
    } catch (error) { /* it may have ended meanwhile */ }
  }
  function outlookParts() {
    const lines = status.states.map((name, s) => ({color: color(s),
      y: outlook.states.map(row => row[s])}));
    return [plot({x: outlook.states.map((_, i) => i), lines, low: 0, high: 1,
      label: "steps from now"}),
    make("p", {class: "soft", text: "Probability of each state if “" + outlook.action
      + "” goes on."})];
  }

  function showUnits() {
    const wanted = $("find").value.toLowerCase();
    const found = status.units.filter(u => u.unit.toLowerCase().includes(wanted)).sort(order);
    const units = few ? found.slice(0, FEW) : found;
    $("legend").replaceChildren(...status.states.map((name, i) => {
      const swatch = make("span", {class: "swatch"});
      swatch.style.background = color(i);
      return make("span", {}, [swatch, document.createTextNode(name)]);
    }));
    const focused = document.activeElement && document.activeElement.dataset
      ? document.activeElement.dataset.unit : undefined;
    const body = $("unit-table").tBodies[0];
    body.replaceChildren(...units.flatMap(unitRow));
    if (focused !== undefined) {
      const again = Array.from(body.rows).find(row => row.dataset.unit === focused);
      if (again) again.focus({preventScroll: true});
    }
    $("no-units").hidden = status.units.length > 0;
    $("before").disabled = starts.length < 2;
    $("after").disabled = !status.more;
    const pages = starts.length > 1 || status.more;
    ["before", "after", "page"].forEach(id => { $(id).hidden = !pages; });
    $("page").textContent = "part " + starts.length;
    $("all").hidden = found.length <= FEW;
    $("all").textContent = few ? "Show all " + whole(found.length) : "Show " + FEW;
    $("unit-table").querySelectorAll("th").forEach(head => {
      if (head.firstElementChild.dataset.key === sortKey) {
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
      } else head.removeAttribute("aria-sort");
    });
  }

  function showDynamics() {
    const none = !estimate || !estimate.transition;
    ["transition", "entry-chart", "dynamics-actions"].forEach(id => { $(id).hidden = none; });
    $("entry-caption").hidden = none;
    if (none) {
      $("dynamics-text").textContent = estimate
        ? "Nothing yet: the first plan has not been made." : "This agent does not learn.";
      return;
    }
    $("dynamics-text").textContent = "Probability of the next state, ± standard error, from "
      + whole(estimate.rows) + " steps."
      + (estimate.flagged_rows ? " Rows that the steps did not determine: "
        + whole(estimate.flagged_rows) + "." : "");
    $("dynamics-actions").replaceChildren(...estimate.actions.map((name, a) =>
      make("button", {type: "button", text: name, "aria-pressed": String(a === action),
        on: {click: () => { action = a; showDynamics(); look_back(); }}})));
    const head = make("tr", {}, [make("th", {text: "from \\ to", class: "text"}),
      ...estimate.states.map(name => make("th", {text: name, scope: "col"}))]);
    const rows = estimate.transition[action].map((row, s) => make("tr", {}, [
      make("th", {text: estimate.states[s], scope: "row"}),
      ...row.map((p, i) => entryCell(p, s, i))]));
    $("transition").replaceChildren(make("thead", {}, [head]), make("tbody", {}, rows));
  }

  function entryCell(p, s, i) {
    const error = estimate.standard_error ? estimate.standard_error[action][s][i] : null;
    const button = make("button", {type: "button", on: {click: () => {
      from = s; to = i; showDynamics(); look_back(); }}}, [plain(p, 3),
      make("span", {class: "soft", text: error === null ? "" : " ± " + plain(error, 3)})]);
    return make("td", {"aria-selected": String(s === from && i === to)}, [button]);
  }

  async function look_back() {
    const entry = {action, from, to};
    try {
      const answer = await ask("history", entry);
      if (entry.action !== action || entry.from !== from || entry.to !== to) return;
      history = answer;
      showHistory();
    } catch (error) { /* the next look tells */ }
  }

  const range = (values, least) => {
    const known = values.filter(x => x !== null && Number.isFinite(x));
    if (!known.length) return [0, 1];
    let low = Math.min(...known), high = Math.max(...known);
    if (high - low < least) { const middle = (low + high) / 2; low = middle - least / 2;
      high = middle + least / 2; }
    return [low - 0.05 * (high - low), high + 0.05 * (high - low)];
  };

  function showHistory() {
    const {rows, value, standard_error: error} = history;
    const low = value.map((x, i) => x === null || error[i] === null ? x
      : Math.max(0, x - 1.96 * error[i]));
    const high = value.map((x, i) => x === null || error[i] === null ? x
      : Math.min(1, x + 1.96 * error[i]));
    const [bottom, top] = range(low.concat(high), 0.02);
    $("entry-chart").replaceChildren(plot({x: rows, lines: [{y: value}], band: {low, high},
      low: Math.max(0, bottom), high: Math.min(1, top), label: "steps"}));
    $("entry-caption").textContent = "Under “" + estimate.actions[action] + "” from “"
      + estimate.states[from] + "” to “" + estimate.states[to] + "”: the estimate at each plan, "
      + "with its 95 % interval.";
    showGain();
  }

  function showGain() {
    const now = plan && plan.plan;
    if (!now) { $("gain-text").textContent = "No plan yet."; return; }
    const wide = now.optimistic_gain !== null && Math.abs(now.optimistic_gain - now.gain) > 1e-9;
    $("gain-text").textContent = "The plan in force (number " + whole(now.number) + ", from "
      + whole(now.rows) + " steps) expects " + plain(now.gain, 4) + " a step"
      + (wide ? "; with all the luck that the data allow it would be "
        + plain(now.optimistic_gain, 4) + " (gain between the two)." : ".")
      + (plan.next_plan_at ? " The next is due at " + whole(plan.next_plan_at) + " steps, there are "
        + whole(status.rows) + "." : "");
    if (!history || !history.rows.length) return;
    const bound = history.optimistic_gain, lines = [{y: history.gain}];
    const optimistic = bound.some((x, i) => x !== null && Math.abs(x - history.gain[i]) > 1e-9);
    if (optimistic) lines.push({y: bound, kind: "dash"});
    const [low, high] = range(history.gain.concat(bound), 1e-3);
    $("gain-chart").replaceChildren(plot({x: history.rows, low, high, label: "steps", lines,
      band: optimistic ? {low: history.gain, high: bound} : null}));
    $("gain-caption").textContent = "Expected gain of each plan"
      + (optimistic ? " (line) and its optimistic bound (dashed)." : ".");
  }

  function showActions() {
    if (!estimate) { $("actions").hidden = true; return; }
    const most = Math.max(1, ...estimate.plays);
    const all = Math.max(1, estimate.plays.reduce((a, b) => a + b, 0));
    $("action-bars").replaceChildren(...estimate.actions.map((name, a) => {
      const bar = draw("svg", {viewBox: "0 0 100 10", preserveAspectRatio: "none"});
      bar.append(draw("rect", {x: 0, y: 0, width: 100 * estimate.plays[a] / most, height: 10,
        fill: color(a)}));
      return make("div", {class: "bar"}, [make("span", {text: name}), bar, make("span", {
        text: whole(estimate.plays[a]) + " (" + plain(100 * estimate.plays[a] / all, 1) + " %)"})]);
    }));
  }

  // A chart: x, lines (y, color or kind), band (low, high), low, high, label of x.
  function plot(data) {
    const W = Math.min(720, Math.max(290, document.documentElement.clientWidth - 60));
    const H = 240, L = 52, R = 14, T = 12, B = 34;
    const n = data.x.length, x0 = Math.min(...data.x), x1 = Math.max(...data.x);
    const X = x => x1 > x0 ? L + (W - L - R) * (x - x0) / (x1 - x0) : (L + W - R) / 2;
    const Y = y => T + (H - T - B) * (data.high - y) / (data.high - data.low);
    const svg = draw("svg", {class: "plot", width: W, height: H, viewBox: `0 0 ${W} ${H}`, role: "img",
      "aria-label": "chart over " + data.label});
    for (let k = 0; k <= 4; ++k) {
      const y = data.low + (data.high - data.low) * k / 4;
      svg.append(draw("line", {class: "grid", x1: L, x2: W - R, y1: Y(y), y2: Y(y)}),
        draw("text", {x: L - 6, y: Y(y) + 4, "text-anchor": "end"},
          plain(y, data.high - data.low < 0.04 ? 4 : data.high - data.low < 4 ? 2 : 0)));
    }
    if (!n) return svg;
    svg.append(draw("text", {x: X(x0), y: H - 16, "text-anchor": x1 > x0 ? "start" : "middle"},
      whole(x0)));
    if (x1 > x0) svg.append(draw("text", {x: X(x1), y: H - 16, "text-anchor": "end"}, whole(x1)));
    svg.append(draw("text", {x: (L + W - R) / 2, y: H - 3, "text-anchor": "middle"}, data.label));
    const points = y => data.x.map((x, i) => [x, y[i]]).filter(p => p[1] !== null)
      .map(([x, v]) => X(x).toFixed(1) + "," + Y(v).toFixed(1));
    if (data.band) {
      svg.append(draw("polygon", {class: "band",
        points: points(data.band.low).concat(points(data.band.high).reverse()).join(" ")}));
    }
    data.lines.forEach(line => {
      const path = draw("polyline", {class: line.kind || "line", points: points(line.y).join(" ")});
      if (line.color) path.style.stroke = line.color;
      svg.append(path);
      if (n < 30 && !line.color && !line.kind) points(line.y).forEach(p => {
        const [cx, cy] = p.split(",");
        svg.append(draw("circle", {class: "dot", cx, cy, r: 3}));
      });
    });
    return svg;
  }

  async function look() {
    if (!document.hidden) {
      try {
        status = await ask("status", {limit: MANY, after: starts[starts.length - 1]});
        if (status.plans !== shownPlans) {
          plan = await ask("plan", {});
          estimate = await ask("estimate", {}).catch(() => null);
        } else if (estimate) {
          estimate = await ask("estimate", {});
        }
        $("login").hidden = true;
        $("content").hidden = false;
        showFacts(); showAlarms(); showUnits(); showDynamics(); showActions(); showGain();
        if (estimate && estimate.transition) await look_back();
        shownPlans = status.plans;
        showState("live", "Live, as of " + new Date().toLocaleTimeString());
      } catch (error) {
        if (error instanceof NoToken) { $("login").hidden = false; $("content").hidden = true; }
        showState("lost", error instanceof NoToken ? error.message
          : "The agent does not answer: " + error.message);
      }
    }
    setTimeout(look, INTERVAL);
  }

  $("unit-table").querySelectorAll("th button").forEach(button => {
    button.addEventListener("click", () => {
      down = sortKey === button.dataset.key ? !down : false;
      sortKey = button.dataset.key;
      showUnits();
    });
  });
  $("find").addEventListener("input", showUnits);
  $("all").addEventListener("click", () => { few = !few; showUnits(); });
  $("after").addEventListener("click", () => {
    starts.push(status.units[status.units.length - 1].unit);
    refresh();
  });
  $("before").addEventListener("click", () => { starts.pop(); refresh(); });
  async function refresh() {
    status = await ask("status", {limit: MANY, after: starts[starts.length - 1]});
    showUnits();
  }
  $("login").addEventListener("submit", event => {
    event.preventDefault();
    token = $("token").value.trim();
    try { sessionStorage.setItem("oas-token", token); } catch (error) { /* no storage */ }
    refresh().then(() => location.reload(), () => {
      showState("lost", "That token is not one of this server's.");
    });
  });
  look();
})();
