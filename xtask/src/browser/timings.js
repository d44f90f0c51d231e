// How long a report takes to open, to follow the pointer, and to make its tables anew. `input`: page. Layout is forced, so that it
// is in the figures; painting is not.
const frame = document.createElement("iframe");
frame.style = "border:0;width:1240px;height:900px";
const begun = performance.now();
frame.srcdoc = input.page;
document.body.append(frame);

addEventListener("load", () => {
  const view = frame.contentWindow, page = frame.contentDocument;
  page.documentElement.getBoundingClientRect();
  const open_ms = performance.now() - begun;
  const area = page.querySelector(".column .area"), box = area.getBoundingClientRect();
  const pointer = (type, share, on) => on.dispatchEvent(new view.PointerEvent(type, { clientX: box.left + box.width * share, clientY: box.top + 9, bubbles: true, button: 0 }));
  const laidOut = () => page.documentElement.getBoundingClientRect();
  const took = (act) => { const start = performance.now(); act(); laidOut(); return performance.now() - start; };
  const hovers = Array.from({ length: 200 }, (_, n) => took(() => pointer("pointermove", n / 200, area))).sort((a, b) => a - b);
  pointer("pointerdown", 0.3, area);
  const drag_ms = took(() => pointer("pointermove", 0.6, area));
  const tables_ms = took(() => pointer("pointerup", 0.6, view));
  const again_ms = took(() => { pointer("pointerdown", 0.2, area); pointer("pointermove", 0.9, area); pointer("pointerup", 0.9, view); });
  const enlarge_ms = took(() => area.dispatchEvent(new view.KeyboardEvent("keydown", { key: "Enter", bubbles: true })));
  const figures = { open_ms, hover_median_ms: hovers[100], hover_worst_ms: hovers[199], drag_ms, tables_ms, again_ms, enlarge_ms };
  document.documentElement.textContent = "FOUND" + `:${JSON.stringify(figures)}:END`;
});
