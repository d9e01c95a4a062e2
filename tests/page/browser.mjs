// Opens a page in Chromium and writes down what is to be seen, as JSON: node browser.mjs PLAYWRIGHT CHROMIUM PAGE WHAT [FOLDER]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { crc32, deflateSync, inflateSync } from "node:zlib";
import { writeFileSync } from "node:fs";

const [library, chromium, file, what, folder] = process.argv.slice(2);
const playwright = createRequire(import.meta.url)(library);
const browser = await playwright.chromium.launch({ executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"] });
const size = { width: 1280, height: 900 };
const context = await browser.newContext({ viewport: size, colorScheme: "light", deviceScaleFactor: 1 });
await context.setOffline(true);
const page = await context.newPage();
const seen = { complaints: [], requests: [] };
const address = pathToFileURL(file).href;
page.on("console", (said) => seen.complaints.push(`${said.type()}: ${said.text()}`));
page.on("pageerror", (error) => seen.complaints.push(String(error)));
page.on("dialog", (dialog) => { seen.complaints.push("dialog: " + dialog.message()); dialog.dismiss(); });
page.on("request", (request) => { if (request.url() !== address) seen.requests.push(request.url()); });

// Keeps each chart that the page draws: of an axis only where it ends is drawn.
await page.addInitScript(() => {
  let library;
  const construct = (target, given) => { const chart = new target(...given); window.drawn = [...(window.drawn ?? []), chart]; return chart; };
  Object.defineProperty(window, "uPlot", { configurable: true, get: () => library, set: (made) => { library = new Proxy(made, { construct }); } });
});

// Where the axis of each chart begins and ends, and at which moment its last bar stands, in seconds.
const axes = () => (window.drawn ?? []).map((chart) => ({ from: chart.scales.x.min, until: chart.scales.x.max, last: chart.data[0].at(-1) }));

const cells = () => {
  const figure = (cell) => ({ text: cell.textContent, exact: cell.dataset.n ?? null });
  const rows = (table) => [...table.rows].filter((row) => !row.closest("thead") && !row.classList.contains("detail")).map((row) => [...row.cells].map(figure));
  const tables = {};
  for (const table of document.querySelectorAll("table[aria-label]")) tables[table.getAttribute("aria-label")] = rows(table);
  const totals = [...document.querySelectorAll("#totals li")].map((item) => [item.querySelector("span").textContent, figure(item.querySelector("b"))]);
  const types = [...document.querySelectorAll(".types")].map((type) => [type.dataset.type, [...type.querySelectorAll("[data-n]")].map(figure)]);
  const runs = [...document.querySelectorAll("tr[data-run]")].map((row) => [row.closest("tr.detail").previousElementSibling.querySelector("button").title, row.dataset.run, Number(row.dataset.level), [...row.cells].map(figure)]);
  const { hours, types: drawn } = JSON.parse(document.getElementById("data").textContent);
  const caps = drawn.map((type) => [type.kind, [type.turns, type.duration_ms, type.cost].map((figure) => figure.caps)]);
  return { tables, totals, types, runs, hours, caps, wild: window.wild ?? null };
};

// How many points of each chart have the colour of its bars, and how large the bars of the histograms are.
const charts = () => {
  const probe = document.createElement("i");
  document.body.append(probe);
  probe.style.color = "var(--bar)";
  const bar = getComputedStyle(probe).color.match(/\d+/g).map(Number);
  probe.remove();
  const near = (points, at) => [0, 1, 2].every((part) => Math.abs(points[at + part] - bar[part]) < 24) && points[at + 3] > 200;
  const canvases = [...document.querySelectorAll("canvas")].map((canvas) => {
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [canvas.width, canvas.height];
    const drawn = copy.getContext("2d", { willReadFrequently: true });
    drawn.drawImage(canvas, 0, 0);
    const points = drawn.getImageData(0, 0, copy.width, copy.height).data;
    let bars = 0, inked = 0;
    for (let at = 0; at < points.length; at += 4) { if (near(points, at)) bars += 1; if (points[at + 3]) inked += 1; }
    return { bars, inked };
  });
  const histograms = [...document.querySelectorAll("svg.histogram")].map((picture) => ({
    bars: [...picture.querySelectorAll("rect")].filter((one) => one.getBoundingClientRect().height > 1).length,
    limits: [...picture.querySelectorAll("line.limit")].length,
  }));
  return { canvases, histograms };
};

// The colours, the least contrast of any text with the page behind it, and how far the page is wider than its window.
const look = () => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => part / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) { const found = parts(getComputedStyle(at).backgroundColor); if (found.length < 4 || found[3] > 0) return found; }
    return [255, 255, 255];
  };
  let least = 99;
  for (const element of document.querySelectorAll("body *")) {
    const speaks = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!speaks || element.matches("script, style, noscript, .skip") || !element.getClientRects().length) continue;
    const style = getComputedStyle(element);
    const [one, other] = [light(parts(element instanceof SVGElement ? style.fill : style.color)), light(behind(element))];
    least = Math.min(least, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
  }
  const shown = [...document.querySelectorAll("button.plain, #filter")].filter((one) => one.getClientRects().length).length;
  return { back: getComputedStyle(document.body).backgroundColor, contrast: least, controls: shown, over: document.documentElement.scrollWidth - innerWidth };
};

async function settled() { await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))); }

async function open() {
  await page.goto(address);
  await page.waitForSelector("#sessions tr.session, #sessions p");
  await settled();
}

async function read() {
  await open();
  seen.closed = await page.evaluate(cells);
  seen.axes = await page.evaluate(axes);
  for (let more = page.locator("#sessions .more"); await more.isVisible(); ) await more.click();
  const all = await page.evaluate(cells);
  seen.closed.tables.Sessions = all.tables.Sessions;
  const rows = await page.locator("#sessions tr.session button").all();
  for (const row of rows) await row.click();
  await settled();
  seen.opened = await page.evaluate(cells);
  seen.light = { ...(await page.evaluate(look)), ...(await page.evaluate(charts)) };
  await page.emulateMedia({ colorScheme: "dark" });
  await settled();
  seen.dark = { ...(await page.evaluate(look)), ...(await page.evaluate(charts)) };
  await page.emulateMedia({ media: "print" });
  await settled();
  seen.print = { ...(await page.evaluate(look)), ...(await page.evaluate(charts)) };
  const pdf = await page.pdf({ format: "A4" });
  seen.pdf = { kind: pdf.subarray(0, 5).toString(), pages: (pdf.toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length };
  await page.emulateMedia({ media: "screen" });
  await page.click("#theme");
  await page.click("#theme");
  await settled();
  seen.chosen = await page.evaluate(look);
  await page.setViewportSize({ width: 390, height: 800 });
  await settled();
  seen.narrow = await page.evaluate(look);
}

// Goes through the page by keys alone.
async function keys() {
  await open();
  const place = () => page.evaluate(() => {
    const at = document.activeElement, row = at.closest("tr");
    return { in: at.closest("[id]")?.id, session: at.closest("tr.session")?.dataset.session ?? null, open: at.getAttribute("aria-expanded"), runs: row?.nextElementSibling?.querySelectorAll("tr[data-run]").length ?? 0, seen: getComputedStyle(at).outlineStyle };
  });
  await page.focus("#filter");
  seen.tabs = 0;
  for (let at = await place(); at.session === null && seen.tabs < 40; at = await place()) { await page.keyboard.press("Tab"); seen.tabs += 1; }
  seen.before = await place();
  await page.keyboard.press("Enter");
  seen.entered = await place();
  await page.keyboard.press("Enter");
  seen.left = await place();
  await page.keyboard.press("ArrowDown");
  seen.next = await place();
  await page.focus("#filter");
  await page.keyboard.type("no session has this");
  await settled();
  seen.none = await page.locator("#sessions").innerText();
  await page.fill("#filter", "");
  await page.keyboard.type("s");
  await settled();
  seen.found = await page.locator("#found").innerText();
}

// Opens the page and a session of it, three times; of each time in milliseconds the least counts, as the machine may have other work.
async function time() {
  const least = (name, ms) => { seen[name] = Math.min(seen[name] ?? Infinity, Math.round(ms)); };
  for (let round = 0; round < 3; round += 1) {
    await open();
    const [shown, answered] = await page.evaluate(async () => {
      const shown = performance.now();
      document.querySelector("#sessions tr.session button").click();
      await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
      if (!document.querySelector("tr[data-run]")) throw new Error("no timeline");
      return [shown, performance.now()];
    });
    least("shown", shown);
    least("answered", answered);
    const before = Date.now();
    await page.fill("#filter", "developer");
    await settled();
    least("filtered", Date.now() - before);
  }
  seen.runs = await page.evaluate(() => [...document.querySelectorAll("#totals li")].find((item) => item.textContent.endsWith("Runs")).querySelector("b").dataset.n);
}

// Packs a PNG of the browser's anew, with a palette of colours that an eye tells apart: a third of the bytes.
function smaller(png) {
  const parts = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) parts.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, at + 8 + png.readUInt32BE(at))]);
  const [, head] = parts[0], [wide, high, deep] = [head.readUInt32BE(0), head.readUInt32BE(4), head[9] === 6 ? 4 : 3];
  const rows = inflateSync(Buffer.concat(parts.filter(([kind]) => kind === "IDAT").map(([, bytes]) => bytes)));
  const line = wide * deep, before = Buffer.alloc(line), palette = new Map(), packed = Buffer.alloc(high * (wide + 1));
  for (let y = 0; y < high; y += 1) {
    const filter = rows[y * (line + 1)], row = rows.subarray(y * (line + 1) + 1, (y + 1) * (line + 1));
    let corner = Buffer.alloc(deep);
    for (let x = 0; x < line; x += 1) {
      const [left, above, over] = [x < deep ? 0 : row[x - deep], before[x], x < deep ? 0 : corner[x % deep]];
      corner[x % deep] = above;
      const [a, b, c] = [Math.abs(above - over), Math.abs(left - over), Math.abs(left + above - 2 * over)];
      row[x] += [0, left, above, (left + above) >> 1, a <= b && a <= c ? left : b <= c ? above : over][filter];
      before[x] = row[x];
    }
    for (let x = 0; x < wide; x += 1) {
      const colour = [0, 1, 2].map((part) => Math.min(255, Math.round(row[x * deep + part] / 17) * 17)).join();
      if (!palette.has(colour)) palette.set(colour, [palette.size, row.subarray(x * deep, x * deep + 3)]);
      packed[y * (wide + 1) + 1 + x] = palette.get(colour)[0];
    }
  }
  const made = (kind, bytes) => {
    const named = Buffer.concat([Buffer.from(kind), bytes]), [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(bytes.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  if (palette.size > 256) throw new Error(`${palette.size} colours`);
  const colours = Buffer.concat([...palette.values()].map(([, bytes]) => bytes));
  const first = Buffer.concat([head.subarray(0, 8), Buffer.from([8, 3, 0, 0, 0])]);
  return Buffer.concat([png.subarray(0, 8), made("IHDR", first), made("PLTE", colours), made("IDAT", deflateSync(packed, { level: 9, memLevel: 9 })), made("IEND", Buffer.alloc(0))]);
}

// The upper part of the page in light colours; in dark ones the lower, with the session of the most runs open.
async function picture() {
  await open();
  const top = (place) => page.evaluate((at) => document.querySelector(at).getBoundingClientRect().top + scrollY - 16, place);
  const take = async (name, y, height) => {
    await page.emulateMedia({ colorScheme: name });
    await settled();
    const shot = await page.screenshot({ clip: { x: 0, y, width: size.width, height }, fullPage: true });
    writeFileSync(`${folder}/report-${name}.png`, smaller(shot));
  };
  await take("light", 0, await top("#h-trips"));
  await page.getByRole("button", { name: "Runs", exact: true }).click();
  await page.locator("#sessions tr.session button").first().click();
  const from = await top("#h-trips");
  await take("dark", from, (await page.evaluate(() => document.querySelector("tr.detail").getBoundingClientRect().bottom + scrollY)) + 70 - from);
  const shots = process.env.FUSEBOX_SHOTS;
  if (!shots) return;
  await page.setViewportSize({ width: 390, height: 800 });
  await settled();
  await page.screenshot({ path: `${shots}/narrow.png`, clip: { x: 0, y: 0, width: 390, height: 1800 }, fullPage: true });
  await page.screenshot({ path: `${shots}/narrow-2.png`, clip: { x: 0, y: await top("#h-trips"), width: 390, height: 1800 }, fullPage: true });
  await page.setViewportSize({ width: 794, height: 1123 });
  await page.emulateMedia({ media: "print" });
  await settled();
  await page.screenshot({ path: `${shots}/print.png`, clip: { x: 0, y: 0, width: 794, height: 2200 }, fullPage: true });
}

await { read, keys, time, picture }[what]();
await browser.close();
process.stdout.write(JSON.stringify(seen));
