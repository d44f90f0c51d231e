// Charts under the pointer and by keyboard: values, a stretch of the time, the stretch drawn larger, the other scale.
// The page is complete without this. All charts over time share pointer, stretch and what is drawn of the time.
const WIDE = 1000, HIGH = 300;
const charts = [], stretchListeners = [];
const shown = { range: null, stretch: null, cursor: null };
const spoken = element("div", { class: "unseen", role: "status" });
document.body.append(spoken);

for (const figure of document.querySelectorAll("figure.chart")) {
  const island = figure.querySelector('script[type="application/json"]');
  const area = figure.querySelector(".area");
  if (!island || !area) continue;
  const data = JSON.parse(island.textContent);
  const chart = { figure, area, data, svg: area.querySelector("svg"), cursor: area.querySelector(".cursor"), tip: area.querySelector(".tip") };
  charts.push(chart);
  if (data.times) prepare(chart);
  area.addEventListener("pointermove", (event) => point(chart, event));
  area.addEventListener("pointerleave", () => charts.forEach(hide));
  area.addEventListener("blur", () => charts.forEach(hide));
  area.addEventListener("keydown", (event) => press(chart, event));
}

// From when to when a chart over time is drawn.
const range = ({ data }) => shown.range ?? [0, data.end];

function prepare(chart) {
  const { area, data, figure } = chart;
  chart.logarithmic = data.logarithmic;
  chart.shades = [...area.querySelectorAll("rect.unsteady")].map((rect) => ["x", "width"].map((key) => (rect.getAttribute(key) / WIDE) * data.end));
  chart.middles = data.times.map((start, n) => (start + (data.times[n + 1] ?? data.end)) / 2);
  chart.band = element("div", { class: "band" });
  area.append(chart.band);
  if (data.scales) {
    const button = element("button", { type: "button", class: "scale", "aria-pressed": String(chart.logarithmic) }, "logarithmic");
    button.addEventListener("click", () => rescale(chart, button));
    figure.querySelector("figcaption").append(button);
  }
  area.addEventListener("pointerdown", (event) => begin(chart, event));
}

function rescale(chart, button) {
  chart.logarithmic = !chart.logarithmic;
  button.setAttribute("aria-pressed", String(chart.logarithmic));
  draw(chart);
}

const across = ({ area }, event) => {
  const box = area.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
};

function point(chart, event) {
  const at = across(chart, event);
  if (chart.begun !== undefined && chart.data.times) {
    const time = moment(chart, at);
    if (Math.abs(at - chart.begunAt) > 0.01) choose(Math.min(chart.begun, time), Math.max(chart.begun, time), false);
  }
  look(chart, at);
}

const moment = (chart, at) => { const [from, to] = range(chart); return from + at * (to - from); };
const place = (chart, time) => { const [from, to] = range(chart); return (time - from) / (to - from); };

// The value at a place of one chart; the same moment in the others.
function look(chart, at) {
  const time = chart.data.times && moment(chart, at);
  for (const other of charts) {
    if (other === chart) show(other, at);
    else if (chart.data.times && other.data.times && place(other, time) <= 1) rule(other, place(other, time));
    else hide(other);
  }
}

function begin(chart, event) {
  if (event.button !== 0) return;
  chart.begunAt = across(chart, event);
  chart.begun = moment(chart, chart.begunAt);
  const end = () => {
    chart.begun = undefined;
    removeEventListener("pointerup", end);
    removeEventListener("pointercancel", end);
    if (shown.stretch) choose(...shown.stretch, true);
  };
  addEventListener("pointerup", end);
  addEventListener("pointercancel", end);
}

// Marks a stretch in all charts; `done`: tables follow.
function choose(from, to, done) {
  shown.stretch = [Math.max(0, from), to];
  bands();
  if (done) stretchListeners.forEach((listener) => listener(shown.stretch));
}

function enlarge(stretch) {
  shown.range = stretch;
  charts.filter(({ data }) => data.times).forEach(draw);
  bands();
}

function forget() {
  shown.stretch = null;
  if (shown.range) enlarge(null);
  bands();
  stretchListeners.forEach((listener) => listener(null));
}

function bands() {
  for (const chart of charts.filter(({ band }) => band)) {
    const [from, to] = (shown.stretch ?? [0, 0]).map((time) => Math.min(1, Math.max(0, place(chart, time))));
    chart.band.style.display = to > from ? "block" : "none";
    chart.band.style.left = `${from * 100}%`;
    chart.band.style.width = `${(to - from) * 100}%`;
  }
}

function press(chart, event) {
  const { data } = chart, steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };
  const places = data.times ? chart.middles : data.positions ?? data.values;
  if (event.key in steps || event.key === "Home" || event.key === "End") {
    const last = places.length - 1, now = chart.at ?? (event.key === "ArrowLeft" ? last + 1 : -1);
    const next = event.key === "Home" ? 0 : event.key === "End" ? last : now + steps[event.key];
    chart.at = Math.min(last, Math.max(0, next));
    if (data.times) step(chart, event.shiftKey);
    else look(chart, data.positions ? data.positions[chart.at] : (chart.at + 0.5) / places.length);
    spoken.textContent = [...chart.tip.children].map((line) => line.textContent).join(", ");
  } else if (event.key === "Enter" && shown.stretch) enlarge(shown.stretch);
  else if (event.key === "Escape") forget();
  else return;
  event.preventDefault();
}

function step(chart, chooses) {
  const time = chart.middles[chart.at];
  if (chooses) {
    const from = (chart.from ??= time);
    choose(Math.min(from, time), Math.max(from, time), true);
  } else chart.from = undefined;
  look(chart, Math.min(1, Math.max(0, place(chart, time))));
}

function hide({ cursor, tip }) { cursor.style.display = tip.style.display = "none"; }
function rule({ cursor, tip }, at) {
  cursor.style.display = at < 0 ? "none" : "block";
  cursor.style.left = `${at * 100}%`;
  tip.style.display = "none";
}

function show(chart, at) {
  const { data, tip } = chart;
  rule(chart, at);
  const unit = data.unit === "per second" ? "/s" : data.unit && ` ${data.unit}`;
  const value = (values, index, none) => (values[index] === null ? none : values[index] + unit);
  const lines = (index, none) => data.lines.map(({ name, colour, values }) => [`${name}: ${value(values, index, none)}`, colour]);
  let told;
  if (data.times) {
    const time = moment(chart, at), index = Math.max(0, data.times.findLastIndex((start) => start <= time));
    told = [[clock(data.times[index], data.end)], ...lines(index, "no samples")];
  } else if (data.labels) {
    const near = (n) => Math.abs(data.positions[n] - at);
    const index = data.positions.reduce((best, _, n) => (near(n) < near(best) ? n : best), 0);
    told = [[data.labels[index]], ...lines(index, "not told")];
  } else {
    const index = Math.min(data.values.length - 1, Math.floor(at * data.values.length));
    told = [[`${data.borders[index]} to ${data.borders[index + 1]}${unit}`], [`${data.values[index]} % of samples`]];
  }
  tip.replaceChildren(...told.map(([text, colour]) => {
    const patch = colour === undefined ? [] : [element("i", { class: `patch c${colour}` })];
    return element("div", {}, ...patch, text);
  }));
  tip.style.display = "block";
  const right = at > 0.55;
  tip.style.left = right ? "auto" : `calc(${at * 100}% + 10px)`;
  tip.style.right = right ? `calc(${(1 - at) * 100}% + 10px)` : "auto";
}

// Draws what lies in the range again, with axes that suit it.
function draw(chart) {
  const { data, svg, figure } = chart, [from, to] = range(chart);
  const inside = chart.middles.map((time, n) => [time, n]).filter(([time]) => time >= from && time <= to).map(([, n]) => n);
  const values = data.lines.flatMap((line) => inside.map((n) => line.values[n])).filter((value) => value !== null);
  const highest = Math.max(...values, 0);
  const limits = data.limits.filter(({ value }) => value <= highest * 2);
  const axis = chart.logarithmic ? magnitudes(values.concat(limits.map(({ value }) => value))) : linear(Math.min(...values, 0), Math.max(highest, ...limits.map(({ value }) => value)));
  const x = (time) => (((time - from) / (to - from)) * WIDE).toFixed(1), y = (value) => (HIGH * (1 - axis.at(value))).toFixed(1);
  const line = ({ values }) => {
    let path = "", pen = "M";
    for (const n of inside) {
      const at = values[n] === null || (chart.logarithmic && values[n] <= 0) ? null : `${x(chart.middles[n])} ${y(values[n])}`;
      path += at === null ? "" : pen + at + (pen === "M" ? "h0.1" : "");
      pen = at === null ? "M" : "L";
    }
    return path;
  };
  const made = [`<path class="grid-line" d="${axis.ticks.map((value) => `M0 ${y(value)}H${WIDE}`).join("")}"/>`];
  for (const [start, length] of chart.shades) {
    const [left, right] = [start, start + length].map((time) => Math.min(WIDE, Math.max(0, x(time))));
    made.push(`<rect x="${left}" y="0" width="${right - left}" height="${HIGH}" class="unsteady"/>`);
  }
  for (const { value, colour } of limits) made.push(`<path class="limit c${colour}" d="M0 ${y(value)}H${WIDE}"/>`);
  for (const drawn of [...data.lines].reverse()) made.push(`<path class="line c${drawn.colour}" d="${line(drawn)}"/>`);
  svg.innerHTML = made.join("");
  figure.querySelector(".y").replaceChildren(...axis.ticks.map((value) => element("span", { style: `bottom:${axis.at(value) * 100}%` }, tickText(value))));
  const times = clockTicks(from, to);
  figure.querySelector(".x").replaceChildren(...times.map((time, n) => element("span", { style: `left:${((time - from) / (to - from)) * 100}%`, class: n % 2 && times.length > 5 ? "minor" : "" }, clock(time, data.end))));
  figure.querySelector(".unit").textContent = data.unit + (chart.logarithmic ? ", logarithmic scale" : "");
}

function roundStep(raw) {
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
}
function linear(low, high) {
  if (!(high > low)) high = low + 1;
  const step = roundStep((high - low) / 4), first = Math.floor(low / step), last = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: last - first + 1 }, (_, n) => (first + n) * step);
  return { ticks, at: (value) => (value / step - first) / (last - first) };
}
function magnitudes(values) {
  const positive = values.filter((value) => value > 0);
  const low = Math.log(Math.min(...positive, 1e12) * 0.9), high = Math.max(low + 1e-4, Math.log(Math.max(...positive, 1e-12) * 1.1));
  const at = (value) => (Math.log(value) - low) / (high - low), ticks = [];
  const wide = high - low > 2.6 * Math.LN10;
  for (let power = Math.floor(low / Math.LN10); power <= high / Math.LN10; power++) {
    for (const factor of wide ? [1] : [1, 2, 5]) ticks.push(factor * 10 ** power);
  }
  return { ticks: ticks.filter((value) => at(value) >= 0 && at(value) <= 1), at };
}
function clockTicks(from, to) {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400];
  const step = steps.find((step) => (to - from) / step <= 7) ?? (to - from) / 6, first = Math.ceil(from / step);
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, n) => (first + n) * step);
}
