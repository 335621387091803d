// Every flow on one look: does it run, is it fresh, how much goes through.
import { useData } from "../api.js";
import { html, useState } from "../html.js";
import { Ago, Chip, Empty, FailingTiers, Lost, State, Waiting } from "../parts.js";
import { go, link } from "../route.js";
import { LAYERS, compact, duration, plural, rate } from "../words.js";

/** The freshness of a layer; of a flow that does not run it is history, neither good nor late. */
export function Fresh({ found, target, running }) {
  if (!found) return html`<span class="quiet">–</span>`;
  const title = `last ${duration(found.last_ms)}, half within ${duration(found.p50_ms)}, 95 % within ${duration(found.p95_ms)} (${plural(found.epochs, "epoch")}); target ${duration(target)}`;
  return html`<span class="fresh ${running ? (found.late ? "late" : "good") : "quiet"}" title=${title}>${duration(found.last_ms)}${running && found.late ? html`<span class="visually-hidden"> late</span>` : null}</span>`;
}

function Row({ flow, layers }) {
  const by = Object.fromEntries(flow.freshness.map((f) => [f.layer, f]));
  const running = flow.state === "running";
  const worst = flow.freshness.toSorted((a, b) => b.last_ms - a.last_ms)[0];
  return html`<tr>
      <th scope="row">
        <a href=${link(["flows", flow.flow])}>${flow.flow}</a>
        ${flow.questions ? html` <a class="plain" href="#/changes"><${Chip} kind="warn">${plural(flow.questions, "question")}<//></a>` : null}
        ${flow.edit ? html` <a class="plain" href="#/changes"><${Chip} kind="info" title="an edit waits: ${flow.edit}; streamhouse apply ${flow.flow} takes it">edit waits<//></a>` : null}
        <${Lost} of=${flow.lost} />
        <${FailingTiers} of=${flow.troubles} />
        ${flow.defined ? null : html` <${Chip} title="no file defines it">no file<//>`}
        <div class="quiet small spare">${flow.description}</div>
        ${worst ? html`<div class="small narrow">${worst.layer} <${Fresh} found=${worst} target=${flow.target_ms} running=${running} /> <span class="quiet">of ${duration(flow.target_ms)}, ${rate(flow.rows_per_second)} rows/s</span></div>` : null}
      </th>
      <td><${State} state=${flow.state} /></td>
      ${layers.map((layer) => html`<td class="right spare" key=${layer}><${Fresh} found=${by[layer]} target=${flow.target_ms} running=${running} /></td>`)}
      <td class="right spare">${duration(flow.target_ms)}</td>
      <td class="right spare">${rate(flow.rows_per_second)}</td>
      <td class="right spare" title="${flow.rows.toLocaleString("en")} rows written in all">${compact(flow.rows)}</td>
      <td><${Ago} at=${flow.last_epoch_at} /></td>
    </tr>
    ${flow.error ? html`<tr class="error-row"><td colspan=${6 + layers.length}><pre class="error">${flow.error}</pre></td></tr>` : null}`;
}

const matches = (flow, text) => [flow.flow, flow.owner, ...flow.tags].some((one) => one.toLowerCase().includes(text.trim().toLowerCase()));

/** How bad a flow is: one that failed before one that is late, and a later one before a less late one. */
function badness(flow) {
  if (flow.state === "failed" || flow.state === "lost") return 1e6;
  if (flow.lost.length) return 1e6 + flow.lost.length;
  if (flow.troubles.length) return 1e5 * flow.troubles.length;
  const late = Math.max(...flow.freshness.map((f) => f.last_ms / flow.target_ms), 0);
  return (flow.state === "running" ? 10 * late : 0) + flow.questions;
}
const ordered = (flows, order) => (order === "worst" ? flows.toSorted((a, b) => badness(b) - badness(a)) : flows);

/** Which faster ways through Spark the last session took, and why one is off. */
export function Shortcuts({ of }) {
  if (!of) return null;
  return html`<p class="quiet small shortcuts">Shortcuts of Spark ${of.spark}: ${of.on.length ? `${of.on.join(", ")} on` : "none on"}${Object.entries(of.off).map(([name, why]) => html`; <b key=${name}>${name} off</b> (${why})`)}</p>`;
}

/** Of which tiers it is not known whether they have all of their rows, and why. */
function Unseen({ of }) {
  return Object.entries(of ?? {}).map(([tier, why]) => html`<p class="quiet small" key=${tier}>The ${tier} tier was not looked at for lost rows: ${why}</p>`);
}

const MANY = 20; // from so many on, the worst flow is first unless a person says otherwise
const SHOWN = 100; // flows that are drawn at once
const GROUPS = { "": () => [""], owner: (flow) => [flow.owner || "no owner"], tag: (flow) => (flow.tags.length ? flow.tags : ["no tag"]), state: (flow) => [flow.state] };

/** Flows by what they have in common: `[[name, flows]]` by name; one without a name where nothing is asked. */
function grouped(flows, by) {
  const groups = new Map();
  for (const flow of flows) for (const name of GROUPS[by](flow)) groups.set(name, [...(groups.get(name) ?? []), flow]);
  return by ? [...groups].sort(([a], [b]) => a.localeCompare(b)) : [...groups];
}

const isLate = (flow) => flow.state === "running" && flow.freshness.some((f) => f.late);
const isBad = (flow) => flow.state === "failed" || flow.state === "lost";

/** How many of some flows are in which state, and what is wrong with them. */
function Counts({ flows }) {
  const states = new Map();
  for (const flow of flows) states.set(flow.state, (states.get(flow.state) ?? 0) + 1);
  const late = flows.filter(isLate).length;
  const failing = flows.reduce((n, flow) => n + flow.troubles.length, 0);
  const lost = flows.filter((flow) => flow.lost.length).length;
  return html`<span class="quiet">${[...states].map(([name, n]) => `${n} ${name}`).join(" · ")}${late ? html` · <b class="late">${late} late</b>` : null}${failing ? html` · <b class="late">${plural(failing, "tier")} failing</b>` : null}${lost ? html` · <b class="late">${plural(lost, "flow")} with a loss</b>` : null}</span>`;
}

/** The flow list; what is filtered stands in the address, so that Back and a link give the same look. */
export function Flows({ about, query }) {
  const { data: flows, problem } = useData("api/flows", 2000);
  const [all, showAll] = useState(false);
  if (!flows) return html`<h1>Flows</h1><${Waiting} problem=${problem} />`;
  const { q: text = "", state = "", by = "" } = query;
  const order = query.order ?? (flows.length > MANY ? "worst" : "name");
  const change = (more) => go(["flows"], { ...query, ...more }, { replace: true });
  const layers = LAYERS.filter((layer) => flows.some((flow) => flow.freshness.some((f) => f.layer === layer)));
  const shows = { late: isLate, failing: (flow) => isBad(flow) || flow.troubles.length + flow.lost.length > 0 };
  const found = ordered(flows.filter((flow) => matches(flow, text) && (!state || (shows[state] ?? ((one) => one.state === state))(flow))), order);
  const shown = all ? found : found.slice(0, SHOWN);
  const states = [...new Set([...flows.map((f) => f.state), ...(state && !shows[state] ? [state] : [])])].sort();
  return html`<div class="title"><h1>Flows</h1><p><${Counts} flows=${flows} /></p></div>
    ${flows.length > 1
      ? html`<div class="decide filters">
          <label class="inline">filter <input type="search" placeholder="name, tag or owner" value=${text} onInput=${(e) => change({ q: e.target.value })} /></label>
          <${Choice} name="show" at=${state} options=${[["", "all"], ["failing", "failing"], ["late", "late"], ...states.map((name) => [name, name])]} onChange=${(to) => change({ state: to })} />
          <${Choice} name="order" at=${order} options=${[["name", "by name"], ["worst", "worst first"]]} onChange=${(to) => change({ order: to })} />
          <${Choice} name="group" at=${by} options=${[["", "none"], ["owner", "by owner"], ["tag", "by tag"], ["state", "by state"]]} onChange=${(to) => change({ by: to })} />
          ${found.length < flows.length ? html`<span class="quiet small">${found.length} of ${flows.length}</span>` : null}
        </div>`
      : null}
    ${flows.length ? grouped(shown, by in GROUPS ? by : "").map(([name, of]) => html`<${Group} key=${name} name=${name} flows=${of} layers=${layers} every=${name ? found.filter((flow) => GROUPS[by](flow).includes(name)) : of} />`) : html`<${Empty}>No flows yet; write one in <code>flows/</code>, or see <code>streamhouse init --help</code>.<//>`}
    ${flows.length && !found.length ? html`<${Empty}>No flow is like this. <button type="button" class="link" onClick=${() => go(["flows"], {}, { replace: true })}>Show all</button><//>` : null}
    ${shown.length < found.length ? html`<p><button type="button" onClick=${() => showAll(true)}>Show all ${found.length}</button> <span class="quiet small">the first ${SHOWN} are shown</span></p>` : null}
    <${Unseen} of=${about?.not_looked_at} />
    <${Shortcuts} of=${about?.shortcuts} />`;
}

const Choice = ({ name, at, options, onChange }) => html`<label class="inline">${name} <select value=${at} onChange=${(e) => onChange(e.target.value)}>${options.map(([id, text]) => html`<option key=${id} value=${id} selected=${id === at}>${text}</option>`)}</select></label>`;

function Group({ name, flows, every, layers }) {
  const table = html`<div class="scroll card" tabindex="0" role="region" aria-label="Flows${name ? ` of ${name}` : ""}">
    <table class="flows">
      <thead>
        <tr>
          <th scope="col" rowspan="2">flow</th><th scope="col" rowspan="2">state</th>
          ${layers.length ? html`<th scope="colgroup" colspan=${layers.length} class="group spare">freshness: source to readable, last epoch</th>` : null}
          <th scope="col" rowspan="2" class="right spare">target</th><th scope="col" rowspan="2" class="right spare">rows/s</th>
          <th scope="col" rowspan="2" class="right spare">rows written</th><th scope="col" rowspan="2">last epoch</th>
        </tr>
        <tr class="spare">${layers.map((layer) => html`<th scope="col" class="right" key=${layer}>${layer}</th>`)}</tr>
      </thead>
      <tbody>${flows.map((flow) => html`<${Row} key=${flow.flow} flow=${flow} layers=${layers} />`)}</tbody>
    </table>
  </div>`;
  if (!name) return table;
  return html`<details class="group-of" open><summary><b>${name}</b> ${plural(every.length, "flow")} <${Counts} flows=${every} /></summary>${table}</details>`;
}
