// Looks at a report inside a frame and leaves a list of what is wrong. `input`: page, width, dark, print, charts and tables
// (at least so many), axe (the source of axe-core, or nothing).
const found = [];
const wrong = (text) => found.push(text);
// Before anything of the page runs: whatever it complains of is told here.
const listen = `<script>
addEventListener("error", (event) => parent.wrong("error: " + event.message));
addEventListener("unhandledrejection", (event) => parent.wrong("rejection: " + event.reason));
addEventListener("securitypolicyviolation", (event) => parent.wrong("asked for " + event.blockedURI + " against " + event.violatedDirective));
for (const level of ["error", "warn", "log"]) console[level] = (...said) => parent.wrong("console." + level + ": " + said.join(" "));
<\/script>`;
window.wrong = wrong;
const frame = document.createElement("iframe");
frame.style = `border:0;width:${input.width}px;height:900px`;
frame.srcdoc = input.page.replace("<head>", `<head>${listen}`);
document.body.append(frame);

addEventListener("load", async () => {
  try {
    if (input.print) asPrinted(frame.contentDocument);
    look(frame.contentWindow, frame.contentDocument);
    if (input.print) lookAtPaper(frame.contentDocument);
    turnPivot(frame.contentWindow, frame.contentDocument);
    chooseStretch(frame.contentWindow, frame.contentDocument);
    if (input.axe) await lookWithAxe(frame.contentWindow);
  } catch (error) {
    wrong(`the probe failed: ${error.stack}`);
  }
  const list = JSON.stringify(found);
  document.documentElement.textContent = "FOUND" + `:${list}:END`;
});

function look(view, page) {
  for (const { name } of view.performance.getEntriesByType("resource")) wrong(`asked a network for ${name}`);
  if (view.innerWidth !== input.width) wrong(`the frame is ${view.innerWidth} wide, expected ${input.width}`);
  if (!page.querySelector("h1")?.textContent) wrong("no title");
  const tables = page.querySelectorAll("table").length;
  if (tables < input.tables) wrong(`${tables} tables, expected at least ${input.tables}`);
  const { scrollWidth } = page.documentElement;
  if (scrollWidth > input.width) wrong(`the page is ${scrollWidth} wide on a screen of ${input.width}`);
  const luminance = (colour) => colour.match(/[\d.]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0) / 765;
  const style = view.getComputedStyle(page.body);
  const [paper, ink] = [luminance(style.backgroundColor), luminance(style.color)];
  if (input.dark ? !(paper < 0.2 && ink > 0.7) : !(paper > 0.8 && ink < 0.3)) wrong(`paper ${paper}, ink ${ink}, dark: ${input.dark}`);
  for (const details of page.querySelectorAll("details")) details.open = true;
  const charts = [...page.querySelectorAll("figure.chart")].filter((figure) => figure.querySelector(".area"));
  if (charts.length < input.charts) wrong(`${charts.length} charts, expected at least ${input.charts}`);
  charts.forEach((figure) => lookAtChart(view, figure));
}

// The rules for print as those for the screen, and what is folded on the screen as paper has it.
function asPrinted(page) {
  for (const rule of [...page.styleSheets].flatMap((sheet) => [...sheet.cssRules])) {
    if (rule.media?.mediaText === "print") rule.media.mediaText = "all";
  }
}

// What is wider than paper is cut there, because nobody can scroll.
function lookAtPaper(page) {
  for (const box of page.querySelectorAll(".table, pre")) {
    if (box.scrollWidth > box.clientWidth + 1) wrong(`${box.getAttribute("aria-label") ?? box.tagName} is cut on paper: ${box.scrollWidth} of ${box.clientWidth}`);
  }
  for (const control of page.querySelectorAll("nav, button, select")) if (control.getClientRects().length > 0) wrong(`a control on paper: ${control.outerHTML.slice(0, 80)}`);
}

// Turns a pivot by its controls, and back.
function turnPivot(view, page) {
  const pivot = page.querySelector("#pivot");
  if (!pivot || input.print) return;
  const selects = [...pivot.querySelectorAll("select")], text = () => pivot.querySelector(".turned").textContent;
  const choose = (select, value) => { select.value = value; select.dispatchEvent(new view.Event("change", { bubbles: true })); };
  const table = () => pivot.querySelector("table"), size = () => [table().tBodies[0].rows.length, table().tHead.rows[0].cells.length].join(" × ");
  if (selects.length < 3) return wrong(`a pivot with ${selects.length} controls`);
  for (const select of selects) {
    select.focus();
    if (page.activeElement !== select) wrong("a control of the pivot takes no focus");
    if (!select.labels[0]?.textContent) wrong("a control of the pivot has no name");
  }
  const [cells, first, second] = selects, before = [...selects].map((select) => select.value);
  choose(cells, before[0]);
  const whole = text(), wide = size();
  choose(first, "columns");
  choose(second, "rows");
  if (text() === whole) wrong("turning a pivot changes nothing");
  choose(first, "0");
  if (table().tHead.rows[0].cells.length !== 2) wrong(`one value of an axis alone: ${size()}`);
  choose(second, "columns");
  if (table().tBodies[0].rows.length !== 1) wrong(`no axis as rows: ${size()}`);
  choose(cells, "1");
  if (!/\d/.test(table().tBodies[0].textContent)) wrong("another figure is not shown");
  if (!page.querySelector(".unseen").textContent.includes("columns")) wrong("nothing is said of a turned pivot");
  selects.forEach((select, at) => choose(select, before[at]));
  if (text() !== whole || size() !== wide) wrong("a pivot does not come back");
}

// Chooses the middle of the time by pointer and by keyboard: tables follow, the stretch is drawn larger, and all goes back.
function chooseStretch(view, page) {
  const area = page.querySelector(".column .area"), all = () => [...page.querySelectorAll("table[data-stretch]")].map((table) => table.textContent).join();
  if (!area || !page.querySelector("#blocks")) return;
  const box = area.getBoundingClientRect(), whole = all(), drawn = area.innerHTML;
  const pointer = (type, share, on) => on.dispatchEvent(new view.PointerEvent(type, { clientX: box.left + box.width * share, clientY: box.top + 9, bubbles: true, button: 0 }));
  pointer("pointerdown", 0.4, area);
  pointer("pointermove", 0.7, area);
  pointer("pointerup", 0.7, view);
  if (all() === whole) wrong("a chosen stretch changes no table");
  const chosen = page.querySelector(".chosen");
  if (chosen.hidden || !/ to .* requests/.test(chosen.textContent)) wrong(`the chosen stretch is told as ${chosen.textContent}`);
  const key = (key, shiftKey = false) => area.dispatchEvent(new view.KeyboardEvent("keydown", { key, shiftKey, bubbles: true }));
  key("Enter");
  if (area.querySelectorAll("path.line").length === 0 || area.innerHTML === drawn) wrong("a stretch is not drawn larger");
  key("Escape");
  if (all() !== whole || !chosen.hidden) wrong("the whole run does not come back");
  key("Home");
  key("ArrowRight", true);
  key("ArrowRight", true);
  if (chosen.hidden) wrong("no stretch by keyboard");
  if (!page.querySelector(".unseen").textContent.includes(":")) wrong("nothing is said of the value");
  key("Escape");
  area.dispatchEvent(new view.PointerEvent("pointerleave"));
}

async function lookWithAxe(view) {
  const script = view.document.createElement("script");
  script.textContent = input.axe;
  view.document.head.append(script);
  const { violations } = await view.axe.run(view.document, { resultTypes: ["violations"] });
  for (const { id, impact, help, nodes } of violations) {
    wrong(`axe: ${impact} ${id}: ${help}: ${nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`);
  }
}

function lookAtChart(view, figure) {
  const title = figure.querySelector("h3").textContent;
  const bad = (text) => wrong(`chart '${title}': ${text}`);
  const area = figure.querySelector(".area"), box = area.getBoundingClientRect();
  if (box.width < 150 || box.height < 100) bad(`drawn on ${box.width} × ${box.height}`);
  const paths = [...area.querySelectorAll("path.line, path.bars")];
  const drawn = paths.filter((path) => path.getTotalLength() > 0 && path.getBBox().width + path.getBBox().height > 0);
  if (drawn.length === 0 || drawn.length !== paths.length) bad(`${drawn.length} of ${paths.length} lines are drawn`);
  for (const path of drawn) {
    const { stroke, fill } = view.getComputedStyle(path);
    if (stroke === "none" && fill === "none") bad("a line without colour");
    const { left, right, top, bottom } = path.getBoundingClientRect();
    // Firefox counts how thick a line is, and dots are thicker.
    const past = path.matches(".dots") ? 6 : 3;
    if (left < box.left - past || right > box.right + past || top < box.top - past || bottom > box.bottom + past) bad("a line leaves its area");
  }
  for (const axis of [".x", ".y"]) {
    const labels = [...figure.querySelectorAll(`${axis} span`)].filter((label) => view.getComputedStyle(label).display !== "none");
    if (labels.length < 2) bad(`${labels.length} labels on ${axis}`);
    const boxes = labels.map((label) => label.getBoundingClientRect());
    const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom - 2 && b.top < a.bottom - 2;
    if (boxes.some((a, at) => boxes.slice(at + 1).some((b) => meet(a, b)))) bad(`labels on ${axis} lie on each other`);
  }
  const legend = figure.querySelector(".legend").getBoundingClientRect();
  if (legend.bottom > box.top) bad("the legend covers the drawing");
  const island = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
  if (!island.values && island.lines.length !== paths.filter((path) => !path.matches(".dots")).length) bad("the values are not those of the lines");
  const move = new view.PointerEvent("pointermove", { clientX: box.left + box.width * 0.4, clientY: box.top + 20, bubbles: true });
  area.dispatchEvent(move);
  const tip = figure.querySelector(".tip");
  if (view.getComputedStyle(tip).display !== "block" || tip.textContent.length < 3) bad("nothing under the pointer");
  area.dispatchEvent(new view.PointerEvent("pointerleave"));
  if (view.getComputedStyle(tip).display !== "none") bad("the value stays when the pointer has left");
}
