// Every flow on one look: does it run, is it fresh, how much goes through.
import { useData } from "../api.js";
import { html } from "../html.js";
import { Ago, Chip, Empty, FailingTiers, State, Waiting } from "../parts.js";
import { link } from "../route.js";
import { LAYERS, compact, duration, plural, rate } from "../words.js";

/** The freshness of a layer; of a flow that does not run it is history, neither good nor late. */
export function Fresh({ found, target, running }) {
  if (!found) return html`<span class="quiet">–</span>`;
  const title = `last ${duration(found.last_ms)}, half within ${duration(found.p50_ms)}, 95 % within ${duration(found.p95_ms)} (${plural(found.epochs, "epoch")}); target ${duration(target)}`;
  return html`<span class="fresh ${running ? (found.late ? "late" : "good") : "quiet"}" title=${title}>${duration(found.last_ms)}${running && found.late ? html`<span class="visually-hidden"> late</span>` : null}</span>`;
}

function Row({ flow, layers }) {
  const by = Object.fromEntries(flow.freshness.map((f) => [f.layer, f]));
  return html`<tr>
      <th scope="row">
        <a href=${link(["flows", flow.flow])}>${flow.flow}</a>
        ${flow.questions ? html` <a class="plain" href="#/changes"><${Chip} kind="warn">${plural(flow.questions, "question")}<//></a>` : null}
        ${flow.edit ? html` <a class="plain" href="#/changes"><${Chip} kind="info" title="an edit waits: ${flow.edit}; streamhouse apply ${flow.flow} takes it">edit waits<//></a>` : null}
        <${FailingTiers} of=${flow.troubles} />
        ${flow.defined ? null : html` <${Chip} title="no file defines it">no file<//>`}
        <div class="quiet small spare">${flow.description}</div>
      </th>
      <td><${State} state=${flow.state} /></td>
      ${layers.map((layer) => html`<td class="right" key=${layer}><${Fresh} found=${by[layer]} target=${flow.target_ms} running=${flow.state === "running"} /></td>`)}
      <td class="right">${duration(flow.target_ms)}</td>
      <td class="right">${rate(flow.rows_per_second)}</td>
      <td class="right spare" title="${flow.rows.toLocaleString("en")} rows written in all">${compact(flow.rows)}</td>
      <td><${Ago} at=${flow.last_epoch_at} /></td>
    </tr>
    ${flow.error ? html`<tr class="error-row"><td colspan=${6 + layers.length}><pre class="error">${flow.error}</pre></td></tr>` : null}`;
}

export function Flows() {
  const { data: flows, problem } = useData("api/flows", 2000);
  if (!flows) return html`<h1>Flows</h1><${Waiting} problem=${problem} />`;
  const layers = LAYERS.filter((layer) => flows.some((flow) => flow.freshness.some((f) => f.layer === layer)));
  const states = Object.entries(Object.groupBy?.(flows, (f) => f.state) ?? {});
  const failing = flows.reduce((n, flow) => n + flow.troubles.length, 0);
  const late = flows.filter((flow) => flow.state === "running" && flow.freshness.at(-1)?.late).length;
  return html`<div class="title"><h1>Flows</h1>
      <p class="quiet">${states.map(([state, of]) => `${of.length} ${state}`).join(" · ")}${late ? html` · <b class="late">${late} late</b>` : null}${failing ? html` · <b class="late">${plural(failing, "tier")} failing</b>` : null}</p>
    </div>
    ${flows.length
      ? html`<div class="scroll card" tabindex="0" role="region" aria-label="Flows">
          <table class="flows">
            <thead>
              <tr>
                <th scope="col" rowspan="2">flow</th><th scope="col" rowspan="2">state</th>
                ${layers.length ? html`<th scope="colgroup" colspan=${layers.length} class="group">freshness: source to readable, last epoch</th>` : null}
                <th scope="col" rowspan="2" class="right">target</th><th scope="col" rowspan="2" class="right">rows/s</th>
                <th scope="col" rowspan="2" class="right spare">rows</th><th scope="col" rowspan="2">last epoch</th>
              </tr>
              <tr>${layers.map((layer) => html`<th scope="col" class="right" key=${layer}>${layer}</th>`)}</tr>
            </thead>
            <tbody>${flows.map((flow) => html`<${Row} key=${flow.flow} flow=${flow} layers=${layers} />`)}</tbody>
          </table>
        </div>`
      : html`<${Empty}>No flows yet; write one in <code>flows/</code>, or see <code>streamhouse init --help</code>.<//>`}`;
}
