// The rows that a query gave: as a table, as a chart, as a file.
import { download } from "./api.js";
import { Reads } from "./reads.js";
import { ResultChart, chartable } from "./result_chart.js";
import { html, useState } from "./html.js";
import { Empty, toast } from "./parts.js";
import { count, duration, plural } from "./words.js";

const EXPORTS = { csv: "CSV", parquet: "Parquet" };
export const isNumber = (type) => /^(tinyint|smallint|int|bigint|float|double|decimal|u?int\d|half)/.test(type ?? "");

/** `sql`: what was asked, so that all rows can be had as a file; without it the rows are only shown. */
export function Answer({ answer, sql }) {
  const { columns, rows, more, seconds } = answer;
  const [as, setAs] = useState("table");
  const [showsReads, setShowsReads] = useState(false);
  const charts = sql ? chartable(answer) : [];
  const shown = charts.includes(as) ? as : "table";
  return html`<div class="decide results">
      <span class="quiet">${more ? `the first ${count(rows.length)} rows, and there are more` : plural(rows.length, "row")}${seconds === undefined ? null : `; ${duration(seconds * 1000)}`}</span>
      ${charts.length ? html`<span role="group" aria-label="Show as" class="spans">${["table", ...charts].map((one) => html`<button type="button" class="small" key=${one} aria-pressed=${one === shown ? "true" : "false"} onClick=${() => setAs(one)}>${one}</button>`)}</span>` : null}
      <span class="grow"></span>
      ${sql ? html`<button type="button" class="small" aria-expanded=${showsReads ? "true" : "false"} title="Tiers, columns, files and conditions, as streamhouse query --explain shows them" onClick=${() => setShowsReads(!showsReads)}>What was read</button>` : null}
      ${sql && rows.length ? Object.keys(EXPORTS).map((format) => html`<${Export} key=${format} sql=${sql} format=${format} />`) : null}
    </div>
    ${sql && showsReads ? html`<${Reads} sql=${sql} />` : null}
    ${!columns.length || !rows.length ? html`<${Empty}>No rows.<//>` : shown === "table" ? html`<${Rows} ...${{ columns, rows }} />` : html`<${ResultChart} answer=${answer} kind=${shown} />`}`;
}

function Rows({ columns, rows }) {
  return html`<div class="scroll card result" tabindex="0" role="region" aria-label="Answer">
    <table>
      <thead><tr>${columns.map((c) => html`<th scope="col" key=${c.name} class=${isNumber(c.type) ? "right" : ""}>${c.name}${c.type ? html`<small class="quiet">${c.type}</small>` : null}</th>`)}</tr></thead>
      <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((v, j) => html`<td key=${j} class="${isNumber(columns[j].type) ? "right" : ""} ${String(v).length < 40 ? "time" : ""}">${cell(v)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;
}

function Export({ sql, format }) {
  const [busy, setBusy] = useState(false);
  const save = async () => {
    setBusy(true);
    try {
      await download("api/query/export", { sql, format }, `query.${format}`);
    } catch (problem) {
      toast(`${problem.code} ${problem.message}`, "bad");
    }
    setBusy(false);
  };
  return html`<button type="button" class="small" disabled=${busy} title="All rows of the query, up to 32 MB" onClick=${save}>${busy ? "Asking…" : EXPORTS[format]}</button>`;
}

function cell(value) {
  if (value === null) return html`<i class="null">NULL</i>`;
  const text = String(value);
  return text.length > 200 ? html`<span title=${text}>${text.slice(0, 200)}…</span>` : text;
}
