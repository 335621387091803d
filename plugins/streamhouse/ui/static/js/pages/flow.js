// One flow: how fresh it is, its graph, its epochs, what its runner told, its file.
import { useData } from "../api.js";
import { Code } from "../code.js";
import { FlowGraph } from "../graph.js";
import { html, useMemo, useState } from "../html.js";
import { Ago, Chip, Empty, FailingTiers, Losses, Lost, State, Table, Tabs, Troubles, Waiting } from "../parts.js";
import { go, link } from "../route.js";
import { count, duration, instant, plural, rate } from "../words.js";
import { FlowPlan } from "./changes.js";
import { History } from "./history.js";
import { TableDetail } from "./table.js";

export default function Flow({ of: name, query, about }) {
  const { data: page, problem } = useData(`api/flows/${encodeURIComponent(name)}`, 2000);
  const { data: graph, problem: undrawn } = useData(`api/flows/${encodeURIComponent(name)}/graph`, 3000);
  const { data: links } = useData(query.table && query.column ? `api/lineage/${encodeURIComponent(`${query.table}.${query.column}`)}` : null);
  const trace = useMemo(() => traced(links), [links]);
  if (!page) return html`<h1>${name}</h1><${Waiting} problem=${problem} />`;
  const flow = page.summary;
  const select = (table) => go(["flows", name], { ...query, tab: undefined, column: undefined, table: table === query.table ? undefined : table });
  const tabs = [
    { id: "graph", name: "Graph", content: () => html`<${Drawn} ...${{ graph, undrawn, query, trace, about, name, live: flow.state === "running", select }} />` },
    { id: "history", name: "History", content: () => html`<${History} flow=${name} target=${flow.target_ms} span=${query.span} onSpan=${(span) => go(["flows", name], { ...query, span }, { replace: true })} />` },
    { id: "epochs", name: "Epochs", content: () => html`<${Epochs} page=${page} flow=${name} />` },
    { id: "events", name: `Events`, content: () => html`<${Events} events=${page.events} />` },
    { id: "file", name: "Definition", content: () => (page.source ? html`<p class="quiet">${page.source.file}</p><${Code} text=${page.source.text} language="yaml" label=${page.source.file} />` : html`<${Empty}>No file defines this flow.<//>`) },
  ];
  return html`<div class="title"><h1>${name}</h1><${State} state=${flow.state} />
      ${flow.questions ? html`<a class="plain" href="#/changes"><${Chip} kind="warn">${plural(flow.questions, "question")} for a person<//></a>` : null}
      <${Lost} of=${flow.lost} />
      <${FailingTiers} of=${flow.troubles} />
      ${flow.tags.map((tag) => html`<${Chip} key=${tag}>${tag}<//>`)}
    </div>
    ${flow.description ? html`<p class="lead">${flow.description}</p>` : null}
    <${Losses} of=${flow.lost} />
    ${flow.error ? html`<div class="trouble" role="alert"><strong>${flow.state === "running" ? "Its last error" : `It ${flow.state === "lost" ? "was lost" : "failed"}`}</strong><pre class="error">${flow.error}</pre></div>` : null}
    ${flow.waits.map((text) => html`<p class="lead" key=${text}><${Chip} kind="warn">waits<//> ${text}</p>`)}
    ${flow.edit ? html`<p class="lead"><a class="plain" href="#/changes"><${Chip} kind="info">edit waits<//></a> ${flow.edit}. The flow goes on with revision ${flow.revision}; <code>streamhouse apply ${name}</code> takes the edit.</p>` : null}
    ${flow.proposals.map((told) => html`<p class="lead" key=${told}><${Chip} kind="info">autopilot<//> ${told}. <code>streamhouse autopilot log ${name}</code></p>`)}
    <${Troubles} of=${flow.troubles} />
    <${Next} flow=${flow} />
    <${Facts} flow=${flow} />
    <${Tabs} label="Parts of ${name}" tabs=${tabs} at=${query.tab ?? "graph"} onChange=${(tab) => go(["flows", name], { ...query, tab: tab === "graph" ? undefined : tab }, { replace: true })} />`;
}

/** What a person does with a flow that does not run. */
function Next({ flow }) {
  if (flow.state === "running" || flow.state === "starting" || flow.state === "stopping") return null;
  if (flow.state === "stopped") return html`<p class="lead">${flow.epochs ? "It does not run." : "It never ran."} <code>streamhouse run ${flow.flow} --once</code> reads what is there; <code>streamhouse runner start ${flow.flow}</code> follows its sources.</p>`;
  return html`<p class="lead">${flow.state === "lost" ? "Its process is gone." : "It stopped with an error."} Nothing is lost: <code>streamhouse runner start ${flow.flow}</code> goes on behind its last epoch. What happened before: <code>streamhouse status ${flow.flow}</code></p>`;
}

function Facts({ flow }) {
  return html`<p class="meta quiet">
      <span>target <b>${duration(flow.target_ms)}</b> from the source to readable</span>
      <span>revision <b>${flow.revision ?? "–"}</b></span>
      <span>epochs <b>${count(flow.epochs)}</b></span>
      ${flow.owner ? html`<span>owner <b>${flow.owner}</b></span>` : null}
      <span>${flow.process ? `${flow.state === "running" ? "" : "last "}${flow.process}` : "no runner yet"}${flow.since ? `, ${flow.state} since ${instant(flow.since)}` : null}</span>
    </p>
    <div class="tiles">
    ${flow.freshness.map((f) => {
      const most = Math.max(flow.target_ms, f.p95_ms, f.last_ms);
      const kind = flow.state === "running" ? (f.late ? "late" : "good") : "past";
      return html`<div class="tile ${kind}" key=${f.layer}>
        <div class="name">${f.layer} freshness${kind === "late" ? html` <${Chip} kind="warn">late<//>` : null}</div>
        <div class="value">${duration(f.last_ms)}</div>
        <div class="meter" role="img" aria-label="${duration(f.last_ms)} of a target of ${duration(flow.target_ms)}">
          <i style=${{ width: `${(100 * f.last_ms) / most}%` }}></i><u style=${{ left: `calc(${(100 * flow.target_ms) / most}% - 2px)` }}></u>
        </div>
        <div class="quiet small" title="over the last ${plural(f.epochs, "epoch")}">p50 ${duration(f.p50_ms)} · p95 ${duration(f.p95_ms)}</div>
      </div>`;
    })}
    <div class="tile"><div class="name">rows per second</div><div class="value">${rate(flow.rows_per_second)}</div><div class="quiet small">${count(flow.rows)} rows in all</div></div>
    <div class="tile"><div class="name">last epoch</div><div class="value"><${Ago} at=${flow.last_epoch_at} /></div><div class="quiet small">${flow.epochs ? `${plural(flow.last_epoch_rows, "row")} in ${duration(flow.last_epoch_ms)}` : "it never ran"}</div></div>
  </div>`;
}

function Drawn({ graph, undrawn, query, trace, about, name, live, select }) {
  if (!graph) return html`<${Waiting} problem=${undrawn} />`;
  const node = graph.nodes.find((n) => n.id === query.table);
  return html`${graph.shows === "files" ? html`<p class="quiet">As its files have it; it was never applied.</p>` : null}
    <div class="split ${node ? "open" : ""}">
      <${FlowGraph} graph=${graph} selected=${node?.id} trace=${trace} live=${live} onSelect=${select} />
      ${node
        ? html`<aside class="card panel" aria-label=${node.id} onKeyDown=${(e) => e.key === "Escape" && select(node.id)}>
            <${TableDetail} key=${node.id} name=${node.id} flow=${node.kind === "source" ? name : undefined} column=${query.column} part=${query.part} about=${about} onClose=${() => select(node.id)}
              onColumn=${(column) => go(["flows", name], { ...query, column: column === query.column ? undefined : column }, { replace: true })}
              onPart=${(part) => go(["flows", name], { ...query, part }, { replace: true })} />
          </aside>`
        : null}
    </div>`;
}

/** Table -> columns on the way of a chosen column, both ways. */
function traced(links) {
  if (!links?.column) return null;
  const found = { [links.table]: [links.column] };
  const add = (table, column) => {
    const of = (found[table] ??= []);
    if (column && !of.includes(column)) of.push(column);
  };
  for (const one of links.up) add(one.table, one.column);
  for (const one of links.down) add(one.into, one.into_column);
  for (const [table, of] of Object.entries(found)) {
    const plain = table.includes(":") ? table.split(":")[1] : table; // a source that two flows name alike
    found[plain] = of.length ? of : ["which rows"];
  }
  return found;
}

function Epochs({ page, flow }) {
  if (!page.epochs.length) return html`<${Empty}>No epoch was finished yet.<//>`;
  const target = page.summary.target_ms;
  const most = Math.max(...page.epochs.map((e) => e.lag_ms), target) * 1.05;
  const step = 900 / Math.max(page.epochs.length, 30);
  return html`<figure class="card chart">
      <figcaption>Lag of the last layer, ${plural(page.epochs.length, "epoch")}; the line is the target, ${duration(target)}.</figcaption>
      <svg viewBox="0 0 900 140" role="img" aria-label="Lag of each epoch" preserveAspectRatio="none">
        ${page.epochs.map((e, i) => html`<rect key="${e.segment} ${e.epoch}" class=${e.lag_ms > target ? "late" : "good"} x=${i * step + 0.5} width=${Math.max(step - 1.5, 1)} y=${140 - (140 * e.lag_ms) / most} height=${(140 * e.lag_ms) / most}><title>${e.segment} epoch ${e.epoch}: ${duration(e.lag_ms)}, ${plural(e.rows, "row")}, ${instant(e.finished_at)}</title></rect>`)}
        <line x1="0" x2="900" y1=${140 - (140 * target) / most} y2=${140 - (140 * target) / most} />
      </svg>
    </figure>
    <${Table} label="Epochs" rows=${page.epochs.toReversed().slice(0, 50)} key=${(e) => `${e.segment} ${e.epoch}`} columns=${[
      { name: "epoch", of: (e) => html`<${Opened} of=${e} flow=${flow} />` },
      { name: "finished (UTC)", time: true, of: (e) => instant(e.finished_at).slice(0, 19) },
      { name: "segment", of: (e) => e.segment },
      { name: "rows written", right: true, of: (e) => count(e.rows) },
      { name: "took", right: true, of: (e) => duration(e.seconds * 1000) },
      { name: "lag", right: true, of: (e) => html`<span class="fresh ${e.lag_ms > target ? "late" : "good"}">${duration(e.lag_ms)}</span>` },
    ]} />`;
}

/** An epoch in full: where its time went, and what it wrote. */
function Opened({ of: e, flow }) {
  const [open, setOpen] = useState(false);
  const layers = Object.entries(e.layers).sort(([, a], [, b]) => a - b);
  const hops = layers.map(([layer, ms], i) => [layer, ms - (i ? layers[i - 1][1] : e.waited_ms)]);
  const slowest = hops.reduce((most, hop) => (hop[1] > most[1] ? hop : most), ["the wait", e.waited_ms]);
  return html`<details class="epoch" onToggle=${(event) => setOpen(event.target.open)}><summary>${e.epoch}</summary>
    <dl class="facts small">
      <div><dt>waited</dt><dd>${duration(e.waited_ms)} from the first row seen to the begin</dd></div>
      ${hops.map(([layer, ms]) => html`<div key=${layer}><dt>${layer}</dt><dd>${duration(ms)} until it was readable</dd></div>`)}
      <div><dt>slowest</dt><dd>${slowest[0]}, ${duration(slowest[1])}</dd></div>
      ${Object.entries(e.tables).map(([table, rows]) => html`<div key=${table}><dt><a href=${link(["tables", table])}>${table}</a></dt><dd>${plural(rows, "row")} written</dd></div>`)}
      ${e.revision === null ? null : html`<div><dt>plan</dt><dd>revision ${e.revision}</dd></div>`}
    </dl>
    ${open && e.revision !== null ? html`<${Revision} flow=${flow} number=${e.revision} />` : null}
  </details>`;
}

/** The plan that an epoch ran with: since when, by which change, and what that changed. */
function Revision({ flow, number }) {
  const { data: found, problem } = useData(`api/flows/${encodeURIComponent(flow)}/revisions/${number}`);
  if (!found) return html`<${Waiting} problem=${problem} />`;
  const by = found.change ? html`<a href=${link(["changes"])}>change ${found.change.id}</a> by ${found.change.asked_by}` : "a run";
  return html`<div class="revision"><p class="quiet small">Revision ${number} was applied by ${by} at ${instant(found.applied_at)}.</p>
    ${found.diff ? html`<${FlowPlan} change=${{ flow, revision: number, outcome: found.diff.outcome, changes: true, text_only: false, blocks: false, diff: found.diff }} title="against revision ${number - 1}" />` : null}
  </div>`;
}

function Events({ events }) {
  if (!events.length) return html`<${Empty}>Its runners reported nothing yet. Changes upstream are on the page <a href=${link(["changes"])}>Changes</a>.<//>`;
  return html`<${Table} label="Events" rows=${events} columns=${[
    { name: "at (UTC)", time: true, of: (e) => instant(e.at).slice(0, 19) },
    { name: "event", of: (e) => e.kind },
    { name: "message", wide: true, of: (e) => e.text },
  ]} />`;
}
