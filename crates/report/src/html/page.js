"use strict";
// Values under the pointer. The page is complete without this: nothing is drawn here.
(() => {
  const clock = (seconds, end) => {
    if (end < 120) return `${Math.round(seconds * 10) / 10} s`;
    const whole = Math.round(seconds), pad = (n) => String(n).padStart(2, "0");
    const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60, s = whole % 60;
    return end >= 3600 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
  };
  const charts = [];
  for (const figure of document.querySelectorAll("figure.chart")) {
    const island = figure.querySelector('script[type="application/json"]');
    const area = figure.querySelector(".area");
    if (!island || !area) continue;
    const chart = { area, data: JSON.parse(island.textContent), cursor: area.querySelector(".cursor"), tip: area.querySelector(".tip") };
    charts.push(chart);
    area.addEventListener("pointermove", (event) => {
      const box = area.getBoundingClientRect();
      const at = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      for (const other of charts) {
        if (other === chart) show(other, at);
        else if (chart.data.times && other.data.times) rule(other, at);
        else hide(other);
      }
    });
    area.addEventListener("pointerleave", () => charts.forEach(hide));
  }
  function hide({ cursor, tip }) { cursor.style.display = tip.style.display = "none"; }
  function rule({ cursor, tip }, at) {
    cursor.style.display = "block";
    cursor.style.left = `${at * 100}%`;
    tip.style.display = "none";
  }
  function show(chart, at) {
    const { data, tip } = chart;
    rule(chart, at);
    tip.replaceChildren();
    const line = (text, colour) => {
      const row = document.createElement("div");
      if (colour !== undefined) {
        const patch = document.createElement("i");
        patch.style.background = `var(--c${colour})`;
        row.append(patch);
      }
      row.append(text);
      tip.append(row);
    };
    const unit = data.unit === "per second" ? "/s" : data.unit && ` ${data.unit}`;
    if (data.times) {
      const time = at * data.end;
      let index = data.times.findLastIndex((start) => start <= time);
      if (index < 0) index = 0;
      line(clock(data.times[index], data.end));
      for (const { name, colour, values } of data.lines) {
        line(`${name}: ${values[index] === null ? "no samples" : values[index] + unit}`, colour);
      }
    } else if (data.labels) {
      let index = 0;
      data.positions.forEach((position, n) => { if (Math.abs(position - at) < Math.abs(data.positions[index] - at)) index = n; });
      line(data.labels[index]);
      for (const { name, colour, values } of data.lines) {
        line(`${name}: ${values[index] === null ? "not told" : values[index] + unit}`, colour);
      }
    } else {
      const index = Math.min(data.values.length - 1, Math.floor(at * data.values.length));
      line(`${data.borders[index]} to ${data.borders[index + 1]}${unit}`);
      line(`${data.values[index]} % of samples`);
    }
    tip.style.display = "block";
    const right = at > 0.55;
    tip.style.left = right ? "auto" : `calc(${at * 100}% + 10px)`;
    tip.style.right = right ? `calc(${(1 - at) * 100}% + 10px)` : "auto";
  }
})();
