// One table or source: columns, SQL, lineage, contract. Beside a graph, and as a page of its own.
import { useData } from "../api.js";
import { Code } from "../code.js";
import { html } from "../html.js";
import { Chip, Empty, Losses, Table, Tabs, Tier, Troubles, Unknown, Waiting } from "../parts.js";
import { go, link } from "../route.js";
import { count, instant, plural } from "../words.js";
import { Stored } from "../stored.js";
import { History } from "./history.js";
import { hasMeaning, Meaning } from "./meaning.js";

export default function TablePage({ of: name, query, about }) {
  const change = (more) => go(["tables", name], { ...query, ...more }, { replace: true });
  return html`<${TableDetail} key=${name} name=${name} flow=${query.flow} column=${query.column} part=${query.part} about=${about} heading="h1" span=${query.span} onSpan=${(span) => change({ span })}
    onColumn=${(column) => change({ column: column === query.column ? undefined : column })} onPart=${(part) => change({ part })} />`;
}

export function TableDetail({ name, flow, column, part, about, onColumn, onPart, onClose, span, onSpan, heading = "h2" }) {
  const { data: table, problem } = useData(`api/tables/${encodeURIComponent(name)}${flow ? `?flow=${encodeURIComponent(flow)}` : ""}`, 10_000);
  const writer = table?.steps[0]?.flow;
  const sub = heading === "h1" ? "h2" : "h3";
  const title = html`<${heading} class="name">${name}<//>`;
  if (!table) return html`${title}<${Waiting} problem=${problem} />`;
  const tabs = [
    { id: "columns", name: "Columns", content: () => html`<${Columns} ...${{ table, column, onColumn }} />` },
    ...(table.steps.length ? [{ id: "sql", name: "SQL", content: () => html`<${Steps} steps=${table.steps} />` }] : []),
    { id: "lineage", name: "Lineage", content: () => html`<${Lineage} table=${table} column=${column} onColumn=${onColumn} sub=${sub} />` },
    ...(table.kind !== "source" && heading === "h1" ? [{ id: "rows", name: "Rows", content: () => html`<${Stored} key=${name} table=${table} about=${about} />` }] : []),
    ...(writer && heading === "h1" ? [{ id: "history", name: "History", content: () => html`<${History} flow=${writer} table=${name} span=${span} onSpan=${onSpan} />` }] : []),
    { id: "contract", name: "Contract", content: () => html`<${Contract} table=${table} sub=${sub} />` },
  ];
  const sql = `SELECT * FROM ${name} LIMIT 100`;
  return html`<div class="title tight">${title}
      <span class="grow"></span>
      ${table.kind !== "source" && about?.may_query ? html`<a class="button small" href=${link(["query"], { sql })}>Query</a>` : null}
      ${onClose ? html`<button type="button" class="icon" aria-label="Close" title="Close (Esc)" onClick=${onClose}>×</button>` : null}
    </div>
    <p class="meta">
      ${table.kind === "table" ? null : html`<${Chip}>${table.kind}<//>`}
      ${table.tiers.map((t) => html`<${Tier} key=${t.tier} ...${t} />`)}
      <span class="quiet">${table.kind === "source" ? table.options.kind : html`${plural(table.rows, "row")} written in all; <a href=${link(["tables", name], { part: "rows" })}>count those that are there</a>`}</span>
      ${onClose ? null : html`<span class="quiet">in ${table.flows.map((f) => html`<a key=${f} href=${link(["flows", f], { table: name })}>${f}</a> `)}</span>`}
    </p>
    <${Losses} of=${table.lost} />
    <${Unknown} flows=${table.unknown_flows} />
    <${Troubles} of=${table.troubles} />
    <${Tabs} label="Parts of ${name}" tabs=${tabs} at=${part ?? "columns"} onChange=${(id) => onPart(id === "columns" ? undefined : id)} />`;
}

function Columns({ table, column, onColumn }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Columns">
    <table class="columns">
      <thead><tr><th scope="col">column</th><th scope="col">type</th><th scope="col"><span class="visually-hidden">role</span></th></tr></thead>
      <tbody>
        ${table.columns.map(
          (c) => html`<tr key=${c.name} class=${c.name === column ? "chosen" : ""}>
            <td><button type="button" class="link" aria-pressed=${c.name === column ? "true" : "false"} title="Follow this column" onClick=${() => onColumn(c.name)}>${c.name}</button></td>
            <td><code>${c.type}</code></td>
            <td>${c.key ? html`<${Chip} kind="info">key<//> ` : null}${c.merge ? html`<${Chip} title="how the store folds a new value into the one it holds">${c.merge}<//> ` : null}${c.nullable ? null : html`<span class="quiet small">not null</span> `}
              ${c.since ? html`<span class="quiet small" title="rows written before hold what it was then, or NULL">since ${instant(c.since)}</span>` : null}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>
  <p class="quiet small">Choose a column to follow it through the flow.</p>`;
}

function Steps({ steps }) {
  return steps.map(
    (s) => html`<section key=${s.step} class="step">
      <p><a href=${link(["actions", s.action])}><b>${s.action}</b></a> <span class="quiet">${s.version}</span> <${Chip} kind="info">${s.strategy}<//> <span class="quiet">segment ${s.segment}, ${s.pace}</span></p>
      <p class="small">${s.reason}</p>
      ${s.part.length ? html`<p class="small">writes ${s.part.join(", ")}; other steps write the rest</p>` : null}
      <ul class="plain small">${s.reads.map((r) => html`<li key=${r.port}><code>${r.port}</code> = <a href=${link(["tables", r.table], { flow: s.flow })}>${r.table}</a>${r.mode === "lookup" ? " as lookup" : ""} <span class="quiet">${r.columns.join(", ")}</span></li>`)}</ul>
      <${Code} text=${s.sql} language="sql" label="SQL of ${s.action}" />
    </section>`,
  );
}

function Lineage({ table, column, onColumn, sub }) {
  const { data, problem } = useData(`api/lineage/${encodeURIComponent(column ? `${table.name}.${column}` : table.name)}`);
  const picker = html`<label class="inline">column <select value=${column ?? ""} onChange=${(e) => onColumn(e.target.value || column)}>
    <option value="">all columns</option>${table.columns.map((c) => html`<option key=${c.name} value=${c.name} selected=${c.name === column}>${c.name}</option>`)}
  </select></label>`;
  if (!data) return html`${picker}<${Waiting} problem=${problem} />`;
  return html`${picker}
    <p class="small"><span class="col value">column</span> makes the value <span class="col rows">column</span> decides which rows there are</p>
    <${sub} class="sub">Comes from<//><${Links} links=${data.up} up=${true} />
    <${sub} class="sub">Goes into<//><${Links} links=${data.down} up=${false} />`;
}

function Links({ links, up }) {
  if (!links.length) return html`<p class="quiet small">nothing</p>`;
  const shown = links.map((x) => (up ? { table: x.table, column: x.column, other: x.into_column, ...pick(x) } : { table: x.into, column: x.into_column, other: x.column, ...pick(x) }));
  const tables = Object.entries(shown.reduce((by, x) => ({ ...by, [x.table]: [...(by[x.table] ?? []), x] }), {}));
  return html`<ul class="links">
    ${tables.map(
      ([table, of]) => html`<li key=${table}>
        <a href=${link(["tables", table])}>${table}</a> <span class="quiet small">${plural(Math.min(...of.map((x) => x.distance)), "step")} away, ${of[0].step}</span>
        <div>${[...new Map(of.map((x) => [`${x.column} ${x.role}`, x])).values()].map((x) => html`<span key="${x.column} ${x.role}" class="col ${x.role}" title=${x.role === "value" ? "makes the value" : "decides which rows there are"}>${x.column ?? "every column"}${x.role === "rows" ? html`<span class="visually-hidden"> (rows)</span>` : null}</span>`)}</div>
      </li>`,
    )}
  </ul>`;
}
const pick = ({ role, distance, step }) => ({ role, distance, step });

function Contract({ table, sub }) {
  const rules = table.steps.flatMap((s) => s.expectations.map((rule) => ({ ...rule, counted: true })));
  const facts = [
    ["primary key", table.primary_key.join(", ") || (table.kind === "source" ? null : "none: rows are appended")],
    ["event time", table.event_time],
    ["buckets", table.kind === "source" ? null : count(table.buckets)],
    ["kept", table.tiers.map((t) => `${t.tier} ${t.kept}`).join(", ") || null],
    ...Object.entries(table.options).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
    ["params", table.steps.map((s) => Object.entries(s.params).map(([k, v]) => `${k}: ${v}`).join(", ")).filter(Boolean).join("; ") || null],
  ].filter(([, value]) => value);
  return html`<dl class="facts">${facts.map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v}</dd></div>`)}</dl>
    ${rules.length ? html`<${sub} class="sub">Expectations<//><${Rules} rules=${rules} />` : null}
    ${table.quarantine ? html`<p>Rows that are kept out: <a href=${link(["tables", table.quarantine])}>${table.quarantine}</a></p>` : null}
    ${hasMeaning(table.meaning) ? html`<${sub} class="sub">Meaning<//><${Meaning} of=${table.meaning} />` : null}
    <${sub} class="sub">Read by<//>
    ${table.readers.length
      ? html`<ul class="plain">${table.readers.map((r) => html`<li key=${r.flow + r.step}><a href=${link(["tables", r.table])}>${r.table}</a>${r.mode === "lookup" ? " as lookup" : ""} <span class="quiet small">in ${r.flow}: ${r.columns.join(", ")}</span></li>`)}</ul>`
      : html`<${Empty}>No step reads it.<//>`}`;
}

export const Rules = ({ rules }) => html`<${Table} label="Expectations" rows=${rules} columns=${[
  { name: "expectation", of: (r) => r.name },
  { name: "check", of: (r) => html`<code>${r.check}</code>` },
  { name: "on violation", of: (r) => r.on_violation },
  ...(rules.some((r) => r.counted) ? [
    { name: "rows that violated it", right: true, of: (r) => html`<b class=${r.violations ? "late" : ""}>${count(r.violations)}</b>` },
    { name: "last (UTC)", time: true, of: (r) => (r.last_violated ? instant(r.last_violated).slice(0, 19) : null) },
  ] : []),
]} />`;
