// Values in words, as the summary of a run writes them (units/src/show.rs).
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const rounded = (value) => (value >= 100 ? grouped(Math.round(value)) : String(Math.round(value * 100) / 100));
const share = (part, all) => `${(all === 0 ? 0 : Math.floor((part * 10000) / all) / 100).toFixed(2)}%`;
function timeText(ms) {
  const ns = Math.floor(ms * 1e6 * (1 + 1e-13));
  const cut = (unit) => Math.floor((ns * 100) / unit) / 100;
  if (ns === 0) return "0s";
  if (ns < 1e3) return `${ns}ns`;
  if (ns < 1e6) return `${cut(1e3)}µs`;
  if (ns < 1e9) return `${cut(1e6)}ms`;
  if (ns < 6e10) return `${cut(1e9)}s`;
  const seconds = Math.floor(ns / 1e9), hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours}h${minutes}m${seconds % 60}s` : `${minutes}m${seconds % 60}s`;
}
// A moment of a run, by how long the run is.
function clock(seconds, end) {
  if (end < 120) return `${Math.round(seconds * 10) / 10} s`;
  const whole = Math.round(seconds), pad = (n) => String(n).padStart(2, "0");
  const h = Math.floor(whole / 3600), m = Math.floor(whole / 60) % 60, s = whole % 60;
  return end >= 3600 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
}
// A number on an axis.
function tickText(value) {
  const size = Math.abs(value);
  const [scaled, suffix] = size >= 1e9 ? [value / 1e9, "G"] : size >= 1e6 ? [value / 1e6, "M"] : size >= 1e4 ? [value / 1e3, "k"] : [value, ""];
  return `${Number(scaled.toFixed(6))}${suffix}`;
}
function element(name, attributes, ...inside) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...inside);
  return made;
}
