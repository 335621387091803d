// A chart of a query's rows in one click: lines over time or a number, bars for names.
import { isNumber } from "./answer.js";
import { Lines, wantsLog } from "./chart.js";
import { html, useMemo, useState } from "./html.js";
import { compact, count } from "./words.js";

const MOST_BARS = 60;
const MOST_LINES = 6;
const isTime = (type) => /^(timestamp|date)/.test(type ?? "");
const number = (value) => (value === null || value === undefined ? null : Number(value));

/** Which charts the rows can be: the first column that orders or names them, and at least one with numbers. */
export function chartable({ columns, rows }) {
  if (rows.length < 2) return [];
  const { x, figures } = parts(columns);
  if (!figures.length || x < 0) return [];
  return isTime(columns[x].type) || isNumber(columns[x].type) ? ["line", "bar"] : ["bar"];
}

function parts(columns) {
  const at = (fits) => columns.findIndex((c) => fits(c.type));
  const time = at(isTime);
  const name = at((type) => !isNumber(type));
  const x = time >= 0 ? time : name >= 0 ? name : columns.length > 1 ? 0 : -1;
  return { x, figures: columns.flatMap((c, i) => (i !== x && isNumber(c.type) ? [i] : [])) };
}

export function ResultChart({ answer, kind }) {
  return kind === "line" ? html`<${Line} answer=${answer} />` : html`<${Bars} answer=${answer} />`;
}

function Line({ answer: { columns, rows } }) {
  const { x, figures } = parts(columns);
  const time = isTime(columns[x].type);
  const data = useMemo(() => {
    const at = (value) => (time ? Date.parse(/[zZ]|[+-]\d\d:?\d\d$/.test(value) ? value : `${value.replace(" ", "T")}${value.length > 10 ? "Z" : ""}`) / 1000 : Number(value));
    const points = rows.filter((row) => row[x] !== null).map((row) => [at(row[x]), row]).sort(([a], [b]) => a - b);
    return { times: points.map(([t]) => t), series: figures.slice(0, MOST_LINES).map((i) => ({ name: columns[i].name, values: points.map(([, row]) => number(row[i])) })) };
  }, [rows]);
  return html`<${Lines} title="${data.series.map((one) => one.name).join(", ")}" unit="by ${columns[x].name}${time ? " (UTC)" : ""}" ...${data} time=${time} format=${compact} log=${wantsLog(data.series)}
    from=${data.times[0]} to=${data.times.at(-1)} />`;
}

function Bars({ answer: { columns, rows } }) {
  const { x, figures } = parts(columns);
  const [chosen, choose] = useState(figures[0]);
  const of = figures.includes(chosen) ? chosen : figures[0];
  const values = rows.slice(0, MOST_BARS).map((row) => [row[x] === null ? "NULL" : String(row[x]), number(row[of])]);
  const [least, most] = [Math.min(0, ...values.map(([, v]) => v ?? 0)), Math.max(0, ...values.map(([, v]) => v ?? 0))];
  const share = (v) => (100 * v) / (most - least || 1);
  return html`<figure class="card chart bars" aria-label="${columns[of].name} by ${columns[x].name}">
    <figcaption>${figures.length > 1 ? html`<select aria-label="Figure" value=${of} onChange=${(e) => choose(Number(e.target.value))}>${figures.map((i) => html`<option key=${i} value=${i} selected=${i === of}>${columns[i].name}</option>`)}</select>` : html`<b>${columns[of].name}</b>`} by ${columns[x].name}${rows.length > MOST_BARS ? `, the first ${MOST_BARS} of ${count(rows.length)} rows` : ""}</figcaption>
    <ul>${values.map(([name, value], i) => html`<li key=${i}><span class="name" title=${name}>${name}</span><span class="track"><i class=${value < 0 ? "below" : ""} style=${{ left: `${share(Math.min(value ?? 0, 0) - least)}%`, width: `${share(Math.abs(value ?? 0))}%` }}></i></span><span class="right">${value === null ? html`<i class="null">NULL</i>` : compact(value)}</span></li>`)}</ul>
  </figure>`;
}
