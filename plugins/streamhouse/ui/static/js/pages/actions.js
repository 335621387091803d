// The registry of actions: search, contract, uses, examples.
import { useData } from "../api.js";
import { Code } from "../code.js";
import { html, useEffect, useState } from "../html.js";
import { Chip, Empty, Table, Waiting } from "../parts.js";
import { go, link } from "../route.js";
import { plural } from "../words.js";
import { hasMeaning, Meaning } from "./meaning.js";
import { Rules } from "./table.js";

export default function Actions({ of: name, query }) {
  const [text, setText] = useState(query.q ?? "");
  const { data: actions, problem } = useData(`api/actions?q=${encodeURIComponent(text)}`, 10_000);
  useEffect(() => {
    const timer = setTimeout(() => text !== (query.q ?? "") && go(name ? ["actions", name] : ["actions"], { q: text }, { replace: true }), 300);
    return () => clearTimeout(timer);
  }, [text]);
  const shown = name ?? actions?.[0]?.action;
  return html`<div class="title"><h1>Actions</h1><p class="quiet">${actions ? plural(actions.length, "action") : ""}</p></div>
    <div class="registry">
      <div class="list">
        <input type="search" aria-label="Search actions" placeholder="Name, column, table, SQL" value=${text} onInput=${(e) => setText(e.target.value)} />
        ${actions
          ? html`<ul aria-label="Actions">${actions.map((a) => html`<li key=${a.action}><a href=${link(["actions", a.action], { q: text })} aria-current=${a.action === shown ? "true" : undefined}>
              <b>${a.action}</b> <span class="quiet small">${a.version}</span> <${Chip}>${a.step}<//>${a.deprecated ? html` <${Chip} kind="warn">deprecated<//>` : null}
              <div class="quiet small">${a.description}</div></a></li>`)}</ul>
              ${actions.length ? null : html`<${Empty}>No action holds these words.<//>`}`
          : html`<${Waiting} problem=${problem} />`}
      </div>
      ${shown ? html`<${Action} key=${shown} name=${shown} />` : null}
    </div>`;
}

function Action({ name }) {
  const { data: a, problem } = useData(`api/actions/${encodeURIComponent(name)}`, 10_000);
  if (!a) return html`<article class="card"><h2>${name}</h2><${Waiting} problem=${problem} /></article>`;
  const columns = a.inputs.flatMap((port) => (Object.keys(port.columns).length ? Object.entries(port.columns).map(([column, type]) => ({ port: port.port, column, type })) : [{ port: port.port, column: "any columns", type: "" }]));
  return html`<article class="card action" aria-label=${name}>
    <div class="title tight"><h2>${a.summary.action}</h2><span class="quiet">${a.summary.version}</span><${Chip}>${a.summary.step} → ${a.summary.layer}<//></div>
    ${a.summary.deprecated ? html`<p><${Chip} kind="warn">deprecated<//> ${a.summary.deprecated}</p>` : null}
    <p>${a.summary.description}</p>
    <p class="quiet small"><code>${a.file}</code>${a.versions.length > 1 ? html` · versions ${a.versions.join(", ")}` : null}</p>
    <h3>Reads</h3>
    <${Table} label="Inputs" rows=${columns} columns=${[{ name: "input", of: (c) => c.port }, { name: "column", of: (c) => c.column }, { name: "type", of: (c) => html`<code>${c.type}</code>` }]} />
    ${a.params.length ? html`<h3>Parameters</h3><${Table} label="Parameters" rows=${a.params} columns=${[
      { name: "name", of: (p) => html`<code>:${p.name}</code>` }, { name: "type", of: (p) => html`<code>${p.type}</code>` },
      { name: "default", of: (p) => (p.required ? html`<${Chip} kind="warn">required<//>` : p.default === null ? null : String(p.default)) }, { name: "description", wide: true, of: (p) => p.description || null },
    ]} />` : null}
    <h3>Promises</h3>
    <dl class="facts">
      <div><dt>primary key</dt><dd>${a.primary_key.join(", ") || "none: rows are appended"}</dd></div>
      ${a.event_time ? html`<div><dt>event time</dt><dd>${a.event_time}</dd></div>` : null}
      <div><dt>other columns</dt><dd>${a.extra_columns === "pass" ? "are passed on" : "are dropped"}</dd></div>
    </dl>
    ${a.expectations.length ? html`<${Rules} rules=${a.expectations} />` : null}
    ${hasMeaning(a.meaning) ? html`<h3>Meaning</h3><${Meaning} of=${a.meaning} />` : null}
    <h3>Used by</h3>
    ${a.uses.length ? html`<ul class="plain">${a.uses.map((u) => html`<li key=${u.flow + u.writes}><a href=${link(["flows", u.flow], { table: u.writes })}>${u.flow}</a> writes <a href=${link(["tables", u.writes])}>${u.writes}</a></li>`)}</ul>` : html`<p class="quiet">no flow</p>`}
    <h3>SQL</h3><${Code} text=${a.sql} language="sql" label="SQL of ${name}" />
    ${a.examples.length ? html`<h3>Examples</h3>${a.examples.map((e, i) => html`<${Example} key=${i} example=${e} nth=${i + 1} />`)}` : null}
  </article>`;
}

function Example({ example, nth }) {
  const params = Object.entries(example.params);
  return html`<div class="example">
    ${Object.entries(example.given).map(([port, rows]) => html`<div key=${port}><h4>Given ${port}</h4><${Rows} rows=${rows} label="Example ${nth}: given ${port}" /></div>`)}
    ${params.length ? html`<p class="small">with ${params.map(([k, v]) => `${k}: ${v}`).join(", ")}</p>` : null}
    <h4>Gives</h4><${Rows} rows=${example.expect} label="Example ${nth}: gives" />
  </div>`;
}

function Rows({ rows, label }) {
  if (!rows.length) return html`<p class="quiet small">no rows</p>`;
  const names = [...new Set(rows.flatMap(Object.keys))];
  return html`<${Table} label=${label} rows=${rows} columns=${names.map((name) => ({ name, right: rows.some((r) => typeof r[name] === "number"), of: (r) => (r[name] === undefined ? null : r[name] === null ? html`<i class="null">NULL</i>` : typeof r[name] === "object" ? JSON.stringify(r[name]) : String(r[name])) }))} />`;
}
