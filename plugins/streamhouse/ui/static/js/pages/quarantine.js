// Rows that expectations keep out of their tables.
import { useData } from "../api.js";
import { html } from "../html.js";
import { Empty, Table, Waiting } from "../parts.js";
import { link } from "../route.js";
import { count } from "../words.js";

export default function Quarantine({ about }) {
  const { data, problem } = useData("api/quarantine", 5000);
  return html`<div class="title"><h1>Quarantine</h1><p class="quiet">rows that an expectation keeps out of a table, with the expectation they violate</p></div>
    ${data
      ? data.length
        ? html`<div class="card"><${Table} label="Quarantine" rows=${data} key=${(q) => q.table} columns=${[
            { name: "kept out of", of: (q) => html`<a href=${link(["tables", q.of])}>${q.of}</a>` },
            { name: "flow", of: (q) => html`<a href=${link(["flows", q.flow], { table: q.table })}>${q.flow}</a>` },
            { name: "rows", right: true, of: (q) => html`<b class=${q.rows ? "late" : ""}>${count(q.rows)}</b>` },
            { name: "expectations", wide: true, of: (q) => html`<ul class="plain">${q.rules.map((r) => html`<li key=${r.name}>${r.name}: <code>${r.check}</code></li>`)}</ul>` },
            { name: "look", of: (q) => (about?.may_query ? html`<a class="button small" href=${link(["query"], { sql: `SELECT * FROM ${q.table} LIMIT 100` })}>See the rows</a>` : html`<code>${q.table}</code>`) },
          ]} /></div>`
        : html`<${Empty}>No action of a flow has an expectation with <code>on_violation: quarantine</code>.<//>`
      : html`<${Waiting} problem=${problem} />`}`;
}
