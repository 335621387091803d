// Rows that expectations keep out of their tables, and rows of sources that cannot be read.
import { post, useData } from "../api.js";
import { html, useState } from "../html.js";
import { Empty, Table, Waiting, toast } from "../parts.js";
import { link } from "../route.js";
import { count } from "../words.js";

export default function Quarantine({ about }) {
  const { data, problem, reload } = useData("api/quarantine", 5000);
  return html`<div class="title"><h1>Quarantine</h1><p class="quiet">rows that an expectation keeps out of a table, and rows of sources that cannot be read</p></div>
    ${data
      ? data.length
        ? html`<div class="card"><${Table} label="Quarantine" rows=${data} key=${(q) => q.table} columns=${[
            { name: "kept out of", of: (q) => html`<a href=${link(["tables", q.of])}>${q.of}</a>` },
            { name: "flow", of: (q) => html`<a href=${link(["flows", q.flow], { table: q.table })}>${q.flow}</a>` },
            { name: "rows", right: true, of: (q) => html`<b class=${q.rows ? "late" : ""}>${count(q.rows)}</b>` },
            { name: "why", wide: true, of: (q) => (q.dead_letters ? html`<${Replay} letters=${q} about=${about} onDone=${reload} />` : html`<ul class="plain">${q.rules.map((r) => html`<li key=${r.name}>${r.name}: <code>${r.check}</code></li>`)}</ul>`) },
            { name: "look", of: (q) => (about?.may_query ? html`<a class="button small" href=${link(["query"], { sql: `SELECT * FROM ${q.table} LIMIT 100` })}>See the rows</a>` : html`<code>${q.table}</code>`) },
          ]} /></div>`
        : html`<${Empty}>No action of a flow has an expectation with <code>on_violation: quarantine</code>, and no source has <code>on_bad_rows: dead_letter</code>.<//>`
      : html`<${Waiting} problem=${problem} />`}`;
}

function Replay({ letters, about, onDone }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const replay = async () => {
    setBusy(true);
    try {
      const done = await post(`api/quarantine/${letters.table}/replay`, {});
      toast(`${done.rows} rows of ${done.table} are read again in the next epoch${done.waiting ? `; ${done.waiting} wait already` : ""}`, "ok");
      setProblem(null);
      onDone();
    } catch (found) {
      setProblem(found);
    }
    setBusy(false);
  };
  return html`<span>cannot be read</span>
    ${about?.may_decide && letters.rows ? html` <button type="button" class="small" disabled=${busy} onClick=${replay}>Replay</button>` : null}
    ${problem ? html`<p class="bad">${problem.message}</p>` : null}`;
}
