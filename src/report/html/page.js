// Draws the page of a report. Time axes are uPlot's, which has ticks, cursor and legend; bars and histograms are some lines of SVG, which
// print sharply and take no library. Every sum was made by the program; here numbers are only laid out, filtered and sorted.
(function () {
"use strict";
const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const words = data.words;
let runColumns = null;
// The runs are most of the page, and wait until somebody opens a session or filters by agent type.
const runs = () => runColumns || (runColumns = JSON.parse(byId("runs").textContent));

function element(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "class") made.className = value;
    else if (name.includes("-") || name === "role" || name === "scope") made.setAttribute(name, value);
    else made[name] = value;
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawing(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Figures: as people read them, and exactly, for copying and for tests.
const whole = (number) => Number(number).toLocaleString("en-US");
const dollars = (pico) => {
  const usd = Number(pico) / 1e12;
  const digits = usd >= 0.1 || usd === 0 ? 2 : 4;
  return usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
};
const exactDollars = (pico) => {
  const digits = BigInt(typeof pico === "number" ? Math.round(pico) : pico).toString().padStart(13, "0");
  return digits.slice(0, -12) + "." + digits.slice(-12);
};
const lasting = (ms) => {
  const seconds = ms / 1000;
  if (seconds < 10) return (Math.round(seconds * 10) / 10).toFixed(1) + " s";
  const all = Math.round(seconds);
  if (all < 60) return all + " s";
  if (all < 3600) return Math.floor(all / 60) + " m " + String(all % 60).padStart(2, "0") + " s";
  const minutes = Math.round(all / 60);
  return Math.floor(minutes / 60) + " h " + String(minutes % 60).padStart(2, "0") + " m";
};
const FORMS = {
  count: { show: whole, exact: String },
  tenths: { show: (number) => Number(number).toLocaleString("en-US", { maximumFractionDigits: 1 }), exact: String },
  usd: { show: dollars, exact: exactDollars },
  ms: { show: lasting, exact: String },
};

function figure(tag, form, value, properties) {
  const { show, exact } = FORMS[form];
  const made = element(tag, { ...properties, title: form === "count" ? "" : exact(value) }, show(value));
  made.dataset.n = exact(value);
  return made;
}

const cell = (form, value) => figure("td", form, value, { class: "n" });
const text = (value, kind = "name") => element("td", { class: kind, title: value }, value === "" && kind === "name" ? "(unknown)" : value);
const heading = (label, kind) => element("th", { scope: "col", class: kind || "" }, label);
const short = (id) => id.slice(0, 8);

function table(name, heads, rows) {
  const head = element("thead", {}, element("tr", {}, ...heads));
  const made = element("table", { "aria-label": name }, head, element("tbody", {}, ...rows));
  return made;
}

// Shows so many rows, and a button for as many more. Printing shows what is shown.
function inPages(place, name, heads, count, step, row) {
  let shown = 0;
  const made = table(name, heads, []);
  const more = element("button", { type: "button", class: "plain more" });
  const next = () => {
    const from = shown;
    shown = Math.min(count, shown + step);
    for (let at = from; at < shown; at += 1) made.tBodies[0].append(row(at));
    more.hidden = shown >= count;
    more.textContent = "Show " + whole(Math.min(step, count - shown)) + " more of " + whole(count);
  };
  more.addEventListener("click", next);
  next();
  place.replaceChildren(made, more);
  return made;
}

function totals() {
  const all = data.totals;
  const cost = [data.cost_head, "usd", all.cost], tokens = ["Tokens", "count", all.tokens];
  const rows = [
    ...(data.plan ? [tokens] : []), cost, ["Sessions", "count", all.sessions], ["Runs", "count", all.runs],
    ["Tool calls", "count", all.turns], ["Requests", "count", all.requests], ...(data.plan ? [] : [tokens]),
    ["Times a limit was reached", "count", all.trips],
  ];
  for (const [label, form, value] of rows) {
    byId("totals").append(element("li", {}, figure("b", form, value), element("span", {}, label)));
  }
}

// The columns of a grouping. Where a plan pays, tokens come first.
const SPENT = [["cost", "usd", data.cost_head], ["requests", "count", "Requests"], ["tokens", "count", "Tokens"], ["sessions", "count", "Sessions"]];
if (data.plan) SPENT.unshift(...SPENT.splice(2, 1));

// A grouping's table: what each group cost, with a bar as long as its part of the largest.
function grouping(by, label) {
  const group = data.groups[by];
  const spent = data.plan ? group.tokens : group.cost;
  const most = Math.max(1, ...spent.map(Number));
  const heads = [heading(label), ...SPENT.map(([, , head]) => heading(head, "n"))];
  const row = (at) => {
    const bar = element("span", { class: "meter" });
    bar.style.width = (Number(spent[at]) / most) * 100 + "%";
    const name = text(group.name[at]);
    name.append(bar);
    return element("tr", {}, name, ...SPENT.map(([key, form]) => cell(form, group[key][at])));
  };
  const place = byId("by-" + by);
  if (!group.name.length) return place.replaceChildren(element("p", { class: "note" }, "Nothing was spent in this period."));
  const made = inPages(place, label, heads, group.name.length, 400, row);
  const all = group.total;
  const total = element("tr", { class: "total" }, text("total"), ...SPENT.map(([key, form]) => cell(form, all[key])));
  made.append(element("tfoot", {}, total));
  return undefined;
}

const charts = [];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// A chart of bars over moments that the program has written in its zone: here they are taken for UTC, so that no clock is changed.
function timeBars(id, moments, values, step, label, show) {
  const place = byId(id);
  if (!moments.length) return place.replaceChildren(element("p", { class: "note" }, "None in this period."));
  const seconds = moments.map((moment) => Date.parse(moment.replace(" ", "T") + (moment.length > 10 ? ":00Z" : "T00:00:00Z")) / 1000);
  const known = new Map(seconds.map((second, at) => [second, values[at]]));
  const [first, last] = [seconds[0], seconds[seconds.length - 1]];
  const xs = [], ys = [];
  // Past some thousand bars nobody sees a gap; the moments themselves are drawn.
  if ((last - first) / step < 5000) for (let at = first; at <= last; at += step) { xs.push(at); ys.push(known.get(at) || 0); }
  else seconds.forEach((second, at) => { xs.push(second); ys.push(values[at]); });
  // Few bars stand at the right, as wide as many: nothing has happened yet behind the last.
  const least = Math.max(0, 12 - xs.length);
  const axis = { stroke: () => colour("--dim"), grid: { stroke: () => colour("--line"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
  const moment = (second) => new Date(second * 1000).toISOString().slice(0, step < 86400 ? 16 : 10).replace("T", " ");
  const chart = new uPlot({
    width: place.clientWidth || 600, height: 210, tzDate: (second) => uPlot.tzDate(new Date(second * 1000), "Etc/UTC"),
    scales: { x: { range: [first - step * (0.7 + least), last + step * 0.7] }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [{ ...axis, space: 70 }, { ...axis, size: 56, values: (_, ticks) => ticks.map((tick) => (tick < 0 ? "" : show(tick))) }],
    series: [
      { label: step < 86400 ? "Hour" : "Day", value: (_, second) => (second === null ? "–" : moment(second)) },
      { label, value: (_, value) => (value === null || value === undefined ? "–" : show(value)), points: { show: false }, stroke: () => colour("--bar"), fill: () => colour("--bar"), paths: uPlot.paths.bars({ size: [0.72, 36], radius: 0.1 }) },
    ],
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
  }, [xs, ys], place);
  chart.root.setAttribute("role", "img");
  chart.root.setAttribute("aria-label", label + ", in the table beside it");
  charts.push(chart);
  new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: 210 })).observe(place);
  return undefined;
}

// A histogram with its limits. One that is far beyond every run stands in the words above it alone.
function histogram(values, form) {
  const { show } = FORMS[form];
  const [width, height, base] = [300, 74, 58];
  const picture = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "histogram", role: "img" });
  const range = values.counts.length * values.step;
  const most = Math.max(1, ...values.counts);
  const wide = width / values.counts.length;
  const label = values.caps.map((cap) => "limit " + show(cap.cap)).join(", ");
  picture.setAttribute("aria-label", `${values.counts.length} bars from 0 to ${show(range)}${label ? "; " + label : ""}`);
  values.counts.forEach((count, at) => {
    if (!count) return;
    const high = Math.max(2, (count / most) * 44);
    const bar = drawing("rect", { x: at * wide + 0.5, y: base - high, width: Math.max(1, wide - 1), height: high });
    bar.append(drawing("title", {}, `${whole(count)} ${count === 1 ? "run" : "runs"}: ${show(at * values.step)} to ${show((at + 1) * values.step)}`));
    picture.append(bar);
  });
  picture.append(drawing("line", { x1: 0, x2: width, y1: base + 0.5, y2: base + 0.5, class: "axis" }));
  picture.append(drawing("text", { x: 0, y: height - 4 }, show(0)), drawing("text", { x: width, y: height - 4, "text-anchor": "end" }, show(range)));
  let free = Infinity;
  for (const cap of values.caps.map((cap) => Number(cap.cap)).filter((cap) => cap <= range).sort((one, other) => other - one)) {
    const [x, words] = [(cap / range) * width, show(cap)];
    picture.append(drawing("line", { x1: x, x2: x, y1: 8, y2: base, class: "limit" }));
    const left = x > width / 2;
    if ((left ? x - 3 : x + 3 + words.length * 6) > free) continue;
    picture.append(drawing("text", { x: left ? x - 3 : x + 3, y: 9, class: "limit", "text-anchor": left ? "end" : "start" }, words));
    free = left ? x - 6 - words.length * 6 : x;
  }
  return picture;
}

function distribution(name, values, form, average) {
  const part = (label, shown, value) => [" " + label + " ", figure("b", shown, value)];
  const caps = values.caps.map((cap) => Number(cap.cap)).sort((one, other) => one - other).map(FORMS[form].show).join(", ");
  const limits = caps ? element("span", { class: "dim" }, ` (${values.caps.length > 1 ? "limits" : "limit"} ${caps})`) : null;
  const numbers = [...part("average", average, values.mean), ...part("· median", form, values.median), ...part("· 90 %", form, values.p90), ...part("· most", form, values.most)];
  return element("figure", {}, element("figcaption", {}, element("span", {}, name, limits), element("span", {}, ...numbers)), histogram(values, form));
}

function types() {
  const place = byId("types");
  const shown = (type) => {
    const made = element("div", { class: "types" },
      element("div", {}, element("h3", { class: "name", title: type.kind }, type.kind),
        element("div", { class: "dim" }, figure("span", "count", type.runs), type.runs === 1 ? " run, " : " runs, ", figure("span", "count", type.tripped), " of them reached a limit")),
      distribution("Tool calls", type.turns, "count", "tenths"), distribution("Working time", type.duration_ms, "ms", "ms"), data.plan ? distribution("Tokens a run", type.tokens, "count", "tenths") : distribution("USD a run", type.cost, "usd", "usd"));
    made.dataset.type = type.kind;
    return made;
  };
  const first = data.types.slice(0, 12), rest = data.types.slice(12);
  place.append(...first.map(shown));
  if (!data.types.length) place.append(element("p", { class: "note" }, "No runs in this period."));
  if (!rest.length) return;
  const more = element("button", { type: "button", class: "plain more" }, `Show ${rest.length} more agent types`);
  more.addEventListener("click", () => { more.remove(); place.append(...rest.map(shown)); });
  place.append(more);
}

// Trips: how many by limit and action, and each of them.
function tripMatrix() {
  const { limit, action, count } = data.trip_sums;
  const place = byId("trip-matrix");
  if (!limit.length) return place.replaceChildren(element("p", { class: "note" }, "No limit was reached in this period."));
  const actions = [...new Set(action)].sort(), limits = [...new Set(limit)];
  const known = new Map(limit.map((name, at) => [name + " " + action[at], count[at]]));
  const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);
  const row = (name) => {
    const counts = actions.map((one) => known.get(name + " " + one) || 0);
    return element("tr", {}, text(words[name]), ...counts.map((number) => cell("count", number)), cell("count", sum(counts)));
  };
  const columns = actions.map((one) => sum(action.map((other, at) => (other === one ? count[at] : 0))));
  const made = table("Trips by limit and action", [heading("Limit"), ...actions.map((one) => heading(words[one].replaceAll("_", " "), "n")), heading("all", "n")], limits.map(row));
  made.append(element("tfoot", {}, element("tr", { class: "total" }, text("total"), ...columns.map((number) => cell("count", number)), cell("count", sum(columns)))));
  return place.replaceChildren(made);
}

function trips() {
  const all = data.trips;
  if (!all.at.length) return;
  const heads = ["Trip", "At", "Session", "Agent", "Limit", "Used", "Action", "Layer"].map((label) => heading(label, label === "Used" ? "n" : ""));
  inPages(byId("trips"), "Trips", heads, all.at.length, 200, (at) => {
    const used = element("td", { class: "n said" }, all.figures[at]);
    used.dataset.n = JSON.stringify([all.used[at], all.cap[at]]);
    const open = element("button", { type: "button" }, short(data.sessions.id[all.session[at]]));
    open.addEventListener("click", () => find(all.session[at]));
    const action = words[all.action[at]].replaceAll("_", " ") + (all.observed[at] ? ", observed" : "");
    return element("tr", { class: "link" }, text("#" + all.number[at], "mono"), text(all.at[at], ""), element("td", {}, open), text(words[all.kind[at]]), text(words[all.limit[at]]), used, text(action, ""), text(words[all.layer[at]], ""));
  });
}

function dialogs() {
  const all = data.dialogs;
  if (!all.at.length) return;
  byId("dialogs-section").hidden = false;
  const heads = ["Dialog", "At", "Session", "Agent", "Limit", "Answer"].map((label) => heading(label));
  inPages(byId("dialogs"), "Dialogs", heads, all.at.length, 200, (at) => {
    const open = element("button", { type: "button" }, short(data.sessions.id[all.session[at]]));
    open.addEventListener("click", () => find(all.session[at]));
    return element("tr", { class: "link" }, text("#" + all.number[at], "mono"), text(all.at[at], ""), element("td", {}, open), text(words[all.kind[at]]), text(words[all.limit[at]]), text(words[all.answer[at]], ""));
  });
}

function budgets() {
  const all = data.budgets;
  if (!all.length) return;
  byId("budgets-section").hidden = false;
  const row = (it) => {
    const used = element("td", { class: "n" }, it.figures);
    used.dataset.n = JSON.stringify([it.used, it.cap]);
    return element("tr", {}, text(it.id || it.scope), text(it.limit), used, text(it.resets || "at no fixed time", ""));
  };
  byId("budgets").append(table("Budgets", [heading("Of"), heading("Limit"), heading("Used", "n"), heading("Begins anew")], all.map(row)));
}

// The sessions: a table that is filtered and sorted, each with its timeline below it.
const COLUMNS = [
  ["Session", "id"], ["Started", "started"], ["Project", "project"], ["Status", "status"], ["Runs", "begun", "count"],
  ["Tool calls", "turns", "count"], ["Requests", "requests", "count"], ["Tokens", "tokens", "count"], ["Limits reached", "trips", "count"],
  [data.cost_head, "cost", "usd"], ["New", "new_cost", "usd"],
];
// Where no client has written a total, nothing is said of it.
if (data.sessions.client.some((cost) => cost !== null)) { COLUMNS.push(["Client", "client", "usd"]); byId("client-note").hidden = false; }
const STOPPED = ["ended by limit", "stopped", "blocked"];
const view = { order: data.sessions.id.map((_, at) => at), key: "started", down: true, shown: 50, body: null };
const wordOf = (key, at) => (key === "status" || key === "project" ? words[data.sessions[key][at]] : data.sessions[key][at]);

function arrange() {
  const needle = byId("filter").value.trim().toLowerCase();
  let order = data.sessions.id.map((_, at) => at);
  if (needle) order = order.filter((at) => holds(at, needle));
  // They come the newest first.
  if (view.key === "started") { if (!view.down) order.reverse(); } else {
    const isText = !COLUMNS.find((column) => column[1] === view.key)[2];
    const value = isText ? (at) => wordOf(view.key, at) : (at) => Number(data.sessions[view.key][at]);
    order.sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      return (a < b ? -1 : a > b ? 1 : 0) * (view.down ? -1 : 1) || one - other;
    });
  }
  view.order = order;
  byId("found").textContent = needle ? `${whole(order.length)} of ${whole(data.sessions.id.length)} sessions` : "";
}

function holds(at, needle) {
  const sessions = data.sessions;
  if ([sessions.id[at], words[sessions.project[at]], words[sessions.status[at]]].some((word) => word.toLowerCase().includes(needle))) return true;
  const kinds = runs().kind;
  for (let run = sessions.first_run[at]; run < sessions.first_run[at] + sessions.runs[at]; run += 1) {
    if (words[kinds[run]].toLowerCase().includes(needle)) return true;
  }
  return false;
}

function sessionHeads() {
  return COLUMNS.map(([label, key, form]) => {
    const sort = element("button", { type: "button" }, label);
    const made = element("th", { scope: "col", class: form ? "n" : "" }, sort);
    if (view.key === key) made.setAttribute("aria-sort", view.down ? "descending" : "ascending");
    sort.addEventListener("click", () => {
      view.down = view.key === key ? !view.down : Boolean(form) || key === "started";
      view.key = key;
      sessions();
      document.querySelector(`#sessions th[aria-sort] button`).focus();
    });
    return made;
  });
}

function sessions() {
  arrange();
  const place = byId("sessions");
  if (!view.order.length) return place.replaceChildren(element("p", { class: "note" }, data.sessions.id.length ? "No session has these words." : "No session in this period."));
  const made = inPages(place, "Sessions", sessionHeads(), view.order.length, view.shown, (at) => sessionRow(view.order[at], at === 0));
  view.body = made.tBodies[0];
  return undefined;
}

function sessionRow(session, isFirst) {
  const all = data.sessions;
  const open = element("button", { type: "button", tabIndex: isFirst ? 0 : -1, "aria-expanded": "false", title: all.id[session] }, short(all.id[session]));
  const status = words[all.status[session]];
  const first = element("td", {}, open);
  const rest = COLUMNS.slice(1).map(([, key, form]) => {
    if (form) return all[key][session] === null ? element("td", { class: "n" }, "–") : cell(form, all[key][session]);
    if (key === "status") return text(status, STOPPED.includes(status) ? "bad" : "");
    return text(wordOf(key, session), key === "started" ? "" : "name");
  });
  const row = element("tr", { class: "session" }, first, ...rest);
  row.dataset.session = session;
  row.addEventListener("click", () => toggle(row));
  open.addEventListener("keydown", (event) => {
    const next = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!next) return;
    event.preventDefault();
    const buttons = [...view.body.querySelectorAll("tr.session > td:first-child > button")];
    const to = buttons[buttons.indexOf(open) + next];
    if (to) { open.tabIndex = -1; to.tabIndex = 0; to.focus(); }
  });
  return row;
}

function toggle(row, isOpen = !row.classList.contains("open")) {
  if (isOpen === row.classList.contains("open")) return;
  row.classList.toggle("open", isOpen);
  row.querySelector("button").setAttribute("aria-expanded", String(isOpen));
  if (!isOpen) { row.nextElementSibling.remove(); return; }
  const place = element("td", { colSpan: COLUMNS.length });
  row.after(element("tr", { class: "detail" }, place));
  timeline(place, Number(row.dataset.session));
}

// Goes to a session from elsewhere on the page, whatever is filtered.
function find(session) {
  const row = () => byId("sessions").querySelector(`tr.session[data-session="${session}"]`);
  if (!row()) { byId("filter").value = data.sessions.id[session]; sessions(); }
  const found = row();
  if (!found) return;
  toggle(found, true);
  found.scrollIntoView({ block: "start" });
  found.querySelector("button").focus();
}

// The runs of a session as a tree: each below the one that spawned it, in the order of their beginnings.
function tree(first, count) {
  const { parent, start } = runs();
  const below = new Map();
  for (let at = 0; at < count; at += 1) {
    const above = parent[first + at];
    if (!below.has(above)) below.set(above, []);
    below.get(above).push(at);
  }
  for (const list of below.values()) list.sort((one, other) => start[first + one] - start[first + other] || one - other);
  const order = [], seen = new Set();
  const walk = (from) => {
    const stack = [...(below.get(from) || [])].reverse().map((at) => [at, 0]);
    while (stack.length) {
      const [at, level] = stack.pop();
      if (seen.has(at)) continue;
      seen.add(at);
      order.push([at, level]);
      for (const child of [...(below.get(at) || [])].reverse()) stack.push([child, level + 1]);
    }
  };
  walk(-1);
  // Runs that call each other their parents hang on nothing.
  for (let at = 0; at < count; at += 1) if (!seen.has(at)) order.push([at, 0]);
  return order;
}

function timeline(place, session) {
  const all = runs(), from = data.sessions.first_run[session], count = data.sessions.runs[session];
  const order = tree(from, count);
  const hit = new Map();
  data.trips.session.forEach((of, at) => {
    if (of !== session) return;
    const run = data.trips.run[at];
    hit.set(run, [...(hit.get(run) || []), at]);
  });
  let span = 1;
  for (let at = from; at < from + count; at += 1) span = Math.max(span, all.start[at] + all.ms[at]);
  for (const list of hit.values()) for (const at of list) span = Math.max(span, data.trips.after_ms[at]);
  const heads = [heading("Run"), heading("Status"), heading("Working time, from " + data.sessions.started[session] + ", over " + lasting(span), "track-cell"), heading("Began", "n"), heading("Worked", "n"), heading("Tool calls", "n"), heading("Requests", "n"), heading("Tokens", "n"), heading(data.cost_head, "n"), heading("Limits reached")];
  const row = (at) => {
    const [run, level] = order[at], here = from + run;
    const name = element("td", {}, element("span", { class: "name" }, words[all.kind[here]]), " ", element("span", { class: "mono dim", title: all.id[here] }, short(all.id[here])));
    name.style.paddingLeft = level * 18 + "px";
    const track = element("span", { class: "track" });
    const bar = element("i", { title: all.models[here].map((model) => words[model]).join(", ") });
    bar.style.left = (all.start[here] / span) * 100 + "%";
    bar.style.width = (all.ms[here] / span) * 100 + "%";
    track.append(bar);
    const reached = hit.get(run) || [];
    for (const trip of reached) {
      const mark = element("b", { title: words[data.trips.limit[trip]] + " " + data.trips.figures[trip] });
      mark.style.left = `calc(${(data.trips.after_ms[trip] / span) * 100}% - 2px)`;
      track.append(mark);
    }
    const status = words[all.status[here]] + (all.reason[here] < 0 ? "" : ": " + words[all.reason[here]].replaceAll("_", " "));
    const said = reached.map((trip) => words[data.trips.limit[trip]] + " " + data.trips.figures[trip]).join("; ");
    const made = element("tr", { "aria-level": level + 1 }, name, text(status, STOPPED.includes(words[all.status[here]]) ? "bad" : ""), element("td", { class: "track-cell" }, track), cell("ms", all.start[here]), cell("ms", all.ms[here]), cell("count", all.turns[here]), cell("count", all.requests[here]), cell("count", all.tokens[here]), cell("usd", all.cost[here]), text(said, "long"));
    made.dataset.run = all.id[here];
    made.dataset.level = level;
    return made;
  };
  const about = element("p", { class: "dim" }, "Session ", element("span", { class: "mono" }, data.sessions.id[session]), ", project ", element("span", { class: "name" }, words[data.sessions.project[session]]), ". More: ", element("span", { class: "mono" }, "fusebox explain " + short(data.sessions.id[session])));
  const inside = element("div", { class: "timeline" });
  place.append(about, inside);
  inPages(inside, "Timeline of session " + short(data.sessions.id[session]), heads, order.length, 300, row);
}

function repaint() { for (const chart of charts) chart.redraw(true, true); }

function theme() {
  const names = ["system", "dark", "light"];
  let at = 0;
  byId("theme").addEventListener("click", () => {
    at = (at + 1) % names.length;
    if (at) document.documentElement.dataset.theme = names[at]; else delete document.documentElement.dataset.theme;
    byId("theme").textContent = "Theme: " + names[at];
    repaint();
  });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", repaint);
}

byId("period").textContent = data.period;
byId("made").textContent = data.made;
byId("notes").append(...data.notes.map((note) => element("p", { class: "note" }, note)));
byId("meaning").textContent = data.meaning;
if (data.plan) for (const by of ["days", "agents", "models", "projects"]) byId("h-" + by).textContent = byId("h-" + by).textContent.replace("Cost", "Tokens");
totals();
for (const [by, label] of [["day", "Day"], ["agent", "Agent type"], ["model", "Model"], ["project", "Project"]]) grouping(by, label);
const days = data.groups.day;
if (data.plan) timeBars("chart-days", [...days.name].reverse(), [...days.tokens].reverse(), 86400, "Tokens", whole);
else timeBars("chart-days", [...days.name].reverse(), [...days.cost].reverse().map((pico) => Number(pico) / 1e12), 86400, data.cost_head, (usd) => dollars(usd * 1e12));
types();
timeBars("chart-hours", data.hours.from, data.hours.agents, 3600, "Agents", (count) => (Number.isInteger(count) ? whole(count) : ""));
tripMatrix();
trips();
dialogs();
budgets();
sessions();
let waiting = 0;
byId("filter").addEventListener("input", () => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(sessions); });
theme();
})();
