// What a reader can do with a report or in a notebook: sort, filter, copy and save tables; read values off
// charts, zoom in on time, hide a series. All is complete without it.
"use strict";
(() => {
const root = document.currentScript.parentElement; // the page, or one output
if (root.equipped) return;
root.equipped = true;
const make = (tag, props, ...children) => {
  const element = Object.assign(document.createElement(tag), props);
  element.append(...children);
  return element;
};
const button = (text, title, onclick) => make("button", {type: "button", title, onclick}, text);
const save = (name, type, text) => {
  const href = URL.createObjectURL(new Blob([text], {type}));
  make("a", {href, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
};
// A spreadsheet takes = + - @ at the start for a formula; only a number may begin so.
const csvCell = value => {
  let text = String(value ?? "");
  if (/^[=+\-@\t\r]/.test(text) && isNaN(text)) text = "'" + text;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
const saveCsv = (name, rows) => save(`${name}.csv`, "text/csv",
  "\ufeff" + rows.map(row => row.map(csvCell).join(",") + "\r\n").join(""));

// ---------------------------------------------------------------- tables
const FACTORS = {ns: 1e-3, "µs": 1, ms: 1e3, s: 1e6, min: 6e7, h: 3.6e9,
  KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, kB: 1e3, MB: 1e6, GB: 1e9};
const NUMBER = /^[≈~<>≤≥ ]*([-+]?[\d,]*\.?\d+)(?: ?([a-zµ]+))?/i;
const plain = text => text.replace(/\s+/g, " ").trim();
const cellText = cell => {
  const copy = cell.cloneNode(true), sub = copy.querySelector(".sub");
  copy.querySelectorAll(".mark, .sub").forEach(part => part.remove());
  copy.querySelectorAll("br").forEach(line => line.replaceWith(" "));
  return [plain(copy.textContent), sub ? plain(sub.textContent) : ""].filter(Boolean).join(", ");
};
const sortKey = text => {
  const found = NUMBER.exec(text);
  return found ? parseFloat(found[1].replaceAll(",", "")) * (FACTORS[found[2]] ?? 1) : null;
};
const exact = text => /^-?[\d,]+(\.\d+)?$/.test(text) ? Number(text.replaceAll(",", "")) : text;
const isGroup = row => row.querySelector("[scope=rowgroup]") !== null;
const rowsOf = table => [...table.tBodies].flatMap(body => [...body.rows]);
const headers = table => [...table.tHead.rows[0].cells];

const records = table => { // the rows that are shown, with the heading of their group
  const rows = [headers(table).map(cellText)], grouped = rowsOf(table).some(isGroup);
  let group = "";
  if (grouped) rows[0].unshift("Group");
  for (const row of rowsOf(table)) {
    if (isGroup(row)) group = cellText(row.cells[0]);
    else if (!row.hidden) rows.push([...(grouped ? [group] : []), ...[...row.cells].map(cellText).map(exact)]);
  }
  return rows;
};

const sortBy = (table, column, header) => {
  const down = header.getAttribute("aria-sort") === "ascending";
  headers(table).forEach(other => other.removeAttribute("aria-sort"));
  header.setAttribute("aria-sort", down ? "descending" : "ascending");
  for (const body of table.tBodies) {
    const rows = [...body.rows].filter(row => !isGroup(row));
    const keys = new Map(rows.map(row => {
      const text = row.cells[column] ? cellText(row.cells[column]) : "";
      return [row, {text, number: sortKey(text)}];
    }));
    const numbers = [...keys.values()].every(({text, number}) => !text || number !== null);
    rows.sort((one, other) => {
      const a = keys.get(one), b = keys.get(other);
      if (!a.text || !b.text) return !a.text - !b.text; // what is not known comes last
      const order = numbers ? a.number - b.number : a.text.localeCompare(b.text, "en", {numeric: true});
      return down ? -order : order;
    });
    body.append(...rows);
  }
};

const equipTable = table => {
  const rows = table.tHead ? rowsOf(table).filter(row => !isGroup(row)) : [];
  if (rows.length < 2) return;
  const name = table.id || "table";
  headers(table).forEach((header, column) => {
    const sort = button("", "Sort by this column", () => sortBy(table, column, header));
    sort.className = "sort";
    sort.append(...header.childNodes);
    header.append(sort);
  });
  const copy = button("Copy", "Copy the table for a spreadsheet", async () => {
    try {
      await navigator.clipboard.writeText(records(table).map(row => row.join("\t")).join("\n"));
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Not copied: the browser refuses";
    }
  });
  const tools = make("div", {className: "tools"}, copy,
    button("CSV", "Download the table as CSV", () => saveCsv(name, records(table))),
    button("JSON", "Download the table as JSON", () => {
      const [columns, ...values] = records(table);
      const objects = values.map(row => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])));
      save(`${name}.json`, "application/json", JSON.stringify(objects, null, 1));
    }));
  if (rows.length >= 6) {
    const filter = make("input", {type: "search", placeholder: "Filter rows", ariaLabel: "Filter the rows of this table"});
    filter.oninput = () => {
      const words = plain(filter.value).toLowerCase().split(" ");
      for (const row of rows) row.hidden = !words.every(word => plain(row.textContent).toLowerCase().includes(word));
    };
    tools.prepend(filter);
  }
  (table.closest(".scroll") || table).before(tools);
};

// ---------------------------------------------------------------- charts
const draw = (tag, attributes, parent) => {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent?.append(element);
  return element;
};
const three = (value, unit) => `${Number(value.toPrecision(3)).toLocaleString("en")} ${unit}`;
const TEXTS = {
  us: v => v >= 1e6 ? three(v / 1e6, "s") : v >= 1e3 ? three(v / 1e3, "ms") : three(v, "µs"),
  count: v => Math.round(v).toLocaleString("en"),
  time: v => v >= 180 ? three(v / 60, "min") : three(v, "s"),
  percentile: v => `p${v}`,
};
const PLACES = { // on the x axis, of seconds and percentiles
  time: (panel, value) => value / panel.unit_s,
  percentile: (panel, value) => 100 / (100 - value),
};
const COLUMNS = {time: "t_s", percentile: "percentile", us: "latency_us", count: "value"};
const share = ([low, high, log], value) => log ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
const unshare = ([low, high, log], part) => log ? low * (high / low) ** part : low + part * (high - low);

class Chart {
  constructor(svg, lines, hidden) {
    Object.assign(this, {svg, hidden, at: -1, over: draw("g", {}, svg)});
    this.panels = JSON.parse(svg.dataset.panels).map((panel, i) =>
      ({...panel, full: panel.x_span, group: svg.querySelectorAll("g.panel")[i],
        lines: lines[i].map(line => ({...line, at: line.x.map(x => PLACES[panel.x](panel, x))}))}));
    this.tip = make("div", {className: "tip", hidden: true, role: "status"});
    svg.after(this.tip);
    svg.setAttribute("tabindex", "0");
    svg.setAttribute("data-lm-suppress-shortcuts", ""); // of JupyterLab
    const events = {pointermove: "move", pointerleave: "clear", blur: "clear", keydown: "key", pointerdown: "grab", pointerup: "drop"};
    for (const [name, method] of Object.entries(events)) svg.addEventListener(name, event => this[method](event));
  }
  place(event) { // the panel, and how far to the right in it
    const {x, y} = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    const panel = this.panels.find(({box: [left, top, width, height]}) =>
      x > left - 5 && x < left + width + 5 && y > top - 5 && y < top + height + 5);
    return [panel, panel && Math.min(1, Math.max(0, (x - panel.box[0]) / panel.box[2]))];
  }
  move(event) {
    const [panel, part] = this.place(event);
    if (!panel) return this.clear();
    this.show(panel, part);
    if (this.from?.panel !== panel) return;
    const [left, top, width, height] = panel.box, low = Math.min(part, this.from.part);
    draw("rect", {x: left + low * width, y: top, width: Math.abs(part - this.from.part) * width, height,
      fill: "#7c8693", opacity: 0.2}, this.over);
  }
  key(event) {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key], [panel] = this.panels;
    const line = panel.lines.find(({colour}) => !this.hidden.has(colour));
    if (event.key === "Escape") this.zoomAll(null);
    if (!step || !line) return;
    event.preventDefault();
    this.at = Math.min(line.x.length - 1, Math.max(0, this.at + step));
    this.show(panel, share(panel.x_span, line.at[this.at]));
  }
  show(panel, part) {
    this.clear();
    const [left, top, width, height] = panel.box, rows = [];
    for (const line of panel.lines) {
      if (this.hidden.has(line.colour)) continue;
      const away = line.at.map((at, i) => line.y[i] === null ? Infinity : Math.abs(share(panel.x_span, at) - part));
      const least = Math.min(...away), i = away.indexOf(least);
      if (least * width < 24) rows.push({line, place: line.at[i], x: line.x[i], y: line.y[i]});
    }
    if (!rows.length) return;
    const first = rows[0].x, at = left + share(panel.x_span, rows[0].place) * width;
    draw("line", {x1: at, x2: at, y1: top, y2: top + height, stroke: "#626c79", "stroke-dasharray": "2 3"}, this.over);
    this.tip.replaceChildren(make("b", {}, TEXTS[panel.x](first)));
    for (const {line, place, x, y} of rows) {
      draw("circle", {cx: left + share(panel.x_span, place) * width, cy: top + height * (1 - share(panel.y_span, y)), r: 4,
        fill: line.colour, stroke: "#ffffff"}, this.over);
      const where = x === first ? "" : ` (${TEXTS[panel.x](x)})`;
      this.tip.append(make("div", {}, dot(line.colour), `${line.name}: ${TEXTS[panel.y](y)}${where}`));
    }
    const own = this.svg.getBoundingClientRect(), around = this.svg.parentElement.getBoundingClientRect();
    const scale = own.width / this.svg.viewBox.baseVal.width, x = own.left - around.left + at * scale;
    const right = at * scale > own.width / 2;
    this.tip.hidden = false;
    Object.assign(this.tip.style, {left: right ? "auto" : `${x + 12}px`, right: right ? `${around.width - x + 12}px` : "auto",
      top: `${own.top - around.top + top * scale}px`});
  }
  clear() {
    this.over.replaceChildren();
    this.tip.hidden = true;
  }
  grab(event) {
    const [panel, part] = this.place(event);
    if (event.button === 0 && panel?.x === "time") this.from = {panel, part};
  }
  drop(event) {
    const from = this.from, [panel, part] = this.place(event);
    this.from = null;
    this.clear();
    if (!from || panel !== from.panel || Math.abs(part - from.part) < 0.01) return;
    this.zoomAll([from.part, part].sort((a, b) => a - b).map(p => unshare(panel.x_span, p)));
  }
  zoomAll(span) { // all panels share the time
    this.panels.filter(panel => panel.x === "time").forEach(panel => this.zoom(panel, span));
    this.svg.dispatchEvent(new CustomEvent("zoomed", {bubbles: true, detail: span}));
  }
  zoom(panel, span) {
    const {group, full, box: [left, top, width, height]} = panel, axis = group.querySelector(".axis-x");
    const old = group.querySelector(".zoomed");
    if (old) group.append(...old.firstChild.childNodes);
    group.querySelectorAll(".zoomed, .ticks").forEach(part => part.remove());
    axis.classList.toggle("off", span !== null);
    panel.x_span = span ? [...span, false] : full;
    if (!span) return;
    const scale = (full[1] - full[0]) / (span[1] - span[0]), shift = left - scale * (left + share(full, span[0]) * width);
    const outer = draw("g", {class: "zoomed"}), inner = draw("g", {transform: `translate(${shift} 0) scale(${scale} 1)`}, outer);
    inner.append(...[...group.children].filter(part => !part.matches(".axis-x, .axis-y") && !part.querySelector("text")));
    const id = `${this.svg.parentElement.id}-${this.svg.classList}-${this.panels.indexOf(panel)}`;
    draw("rect", {x: left, y: top - 4, width, height: height + 8}, draw("clipPath", {id}, outer));
    outer.setAttribute("clip-path", `url(#${id})`);
    const ticks = draw("g", {class: "ticks", "text-anchor": "middle", "font-size": 12}, group);
    const least = (span[1] - span[0]) / Math.max(2, width / 90), power = 10 ** Math.floor(Math.log10(least));
    const step = [1, 2, 5, 10].map(n => n * power).find(size => size >= least);
    for (let i = Math.ceil(span[0] / step); i * step <= span[1]; i++) {
      draw("text", {x: left + share(panel.x_span, i * step) * width, y: top + height + 18, fill: "#626c79"}, ticks)
        .append(TEXTS.time(i * step * panel.unit_s));
    }
    group.append(outer);
  }
}
const dot = colour => {
  const mark = make("span", {className: "dot"}), line = root.querySelector(`[data-panels] [stroke="${colour}"]`);
  mark.style.background = line ? getComputedStyle(line).stroke : colour; // dark: another
  return mark;
};
// Notebooks have figures as images, for viewers that run no script.
const inlined = image => {
  const bytes = Uint8Array.from(atob(image.src.split(",")[1]), c => c.charCodeAt(0));
  const svg = new DOMParser().parseFromString(new TextDecoder().decode(bytes), "image/svg+xml").documentElement;
  svg.removeAttribute("class");
  image.replaceWith(svg);
};

const equipFigure = figure => {
  const store = figure.querySelector("script.chart-lines");
  if (!store) return;
  figure.querySelectorAll("img[src^='data:image/svg']").forEach(inlined);
  const svgs = [...figure.querySelectorAll("svg[data-panels]")];
  const lines = JSON.parse(store.textContent), hidden = new Set();
  const charts = svgs.map(svg => new Chart(svg, lines, hidden));
  const series = new Map(); // above six, series share colours: they hide together
  for (const {colour, name} of lines.flat()) series.set(colour, (series.get(colour) ?? new Set()).add(name));
  const {x, y} = charts[0].panels[0], tools = make("div", {className: "tools"});
  for (const [colour, names] of series.size > 1 ? series : []) {
    const toggle = button("", "Hide or show this series", () => {
      const off = !hidden.delete(colour);
      if (off) hidden.add(colour);
      toggle.ariaPressed = String(!off);
      figure.querySelectorAll(`svg [fill="${colour}"], svg [stroke="${colour}"]`).forEach(part => part.classList.toggle("off", off));
    });
    toggle.ariaPressed = "true";
    toggle.append(dot(colour), [...names].join(" and "));
    tools.append(toggle);
  }
  if (x === "time") {
    const all = button("Show all", "Undo the zoom", () => charts.forEach(chart => chart.zoomAll(null)));
    const hint = make("span", {className: "hint"}, "Drag across the chart to zoom in");
    all.hidden = true;
    figure.addEventListener("zoomed", event => { all.hidden = !event.detail; hint.hidden = !all.hidden; });
    tools.append(all, hint);
  }
  tools.append(button("CSV", "Download the values of this chart as CSV", () => saveCsv(figure.id, [
    ["series", COLUMNS[x], COLUMNS[y]],
    ...lines.flat().flatMap(line => line.x.map((value, i) => [line.name, value, line.y[i]])),
  ])));
  svgs.at(-1).after(tools);
};

root.querySelectorAll(".scroll table").forEach(equipTable);
root.querySelectorAll("figure").forEach(equipFigure);
})();
