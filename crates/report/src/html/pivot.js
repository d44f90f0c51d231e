// The pivot of a matrix: each axis as rows, as columns, or one value of it alone; which figure stands in the cells.
// Native controls, so that keyboards and screen readers know them. Without this the first table stays.
const pivot = document.getElementById("pivot");
if (pivot) {
  const data = JSON.parse(pivot.querySelector("script").textContent);
  const places = data.axes.map((axis) => axis.place);
  let figure = 0;
  const choices = pivot.querySelector(".choices"), turned = pivot.querySelector(".turned");
  const choice = (name, options, chosen, choose) => {
    const select = element("select", {}, ...options.map(([value, text]) => element("option", { value }, text)));
    select.value = chosen;
    select.addEventListener("change", () => {
      choose(select.value);
      turn();
      const table = turned.querySelector("table");
      spoken.textContent = `${table.caption.textContent}: ${table.tBodies[0].rows.length} rows, ${table.tHead.rows[0].cells.length} columns`;
    });
    choices.append(element("label", {}, element("span", {}, name), select));
  };
  choice("cells", data.figures.map((name, at) => [String(at), name]), "0", (value) => { figure = Number(value); });
  data.axes.forEach((axis, at) => {
    const alone = axis.values.map((value, n) => [String(n), `only ${value}`]);
    choice(axis.name, [["rows", "as rows"], ["columns", "as columns"], ...alone], axis.place, (value) => { places[at] = value; });
  });

  function turn() {
    const of = (place) => data.axes.flatMap((axis, at) => (places[at] === place ? [at] : []));
    const [down, across] = [of("rows"), of("columns")];
    const shown = data.rows.filter((row) => places.every((place, at) => Number.isNaN(Number(place)) || row.at[at] === Number(place)));
    // Each combination once, in the order of the plan.
    const distinct = (axes) => {
      const keys = new Map(shown.map((row) => [axes.map((at) => row.at[at]).join(), axes.map((at) => row.at[at])]));
      return [...keys.values()].sort((a, b) => a.reduce((order, value, n) => order || value - b[n], 0));
    };
    const names = (axes, values) => values.map((value, n) => data.axes[axes[n]].values[value]);
    const heads = distinct(across);
    const head = element("tr", {});
    (down.length ? down.map((at) => data.axes[at].name) : [""]).forEach((name) => head.append(name ? element("th", { scope: "col" }, name) : element("td", {})));
    heads.forEach((values) => head.append(element("th", { scope: "col", class: "n" }, across.length ? names(across, values).join(", ") : data.figures[figure])));
    const body = element("tbody", {});
    for (const values of distinct(down)) {
      const line = element("tr", {});
      (down.length ? names(down, values) : ["all"]).forEach((name, n) => line.append(n === 0 ? element("th", { scope: "row" }, name) : element("td", {}, name)));
      for (const of_head of heads) {
        const is = (row, axes, wanted) => axes.every((at, n) => row.at[at] === wanted[n]);
        const row = shown.find((row) => is(row, down, values) && is(row, across, of_head));
        const text = row ? row.texts[figure] : "–";
        line.append(element("td", { class: "n" }, row && row.best === figure ? element("b", {}, text) : text));
      }
      body.append(line);
    }
    const told = (axes, none) => axes.map((at) => data.axes[at].name).join(", ") || none;
    const only = data.axes.flatMap((axis, at) => (Number.isNaN(Number(places[at])) ? [] : [`${axis.name}=${axis.values[places[at]]}`]));
    const caption = `${data.figures[figure]}: ${told(down, "one row")} by ${told(across, "one column")}${only.length ? `, ${only.join(", ")}` : ""}`;
    const table = element("table", {}, element("caption", {}, caption), element("thead", {}, head), body);
    turned.replaceChildren(element("div", { class: "table", tabindex: "0", role: "group", "aria-label": caption }, table));
  }
}
