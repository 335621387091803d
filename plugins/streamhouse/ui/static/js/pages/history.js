// The history of a flow: how late, how fast and how busy it was, with the events that may explain it.
import { useData } from "../api.js";
import { Lines, wantsLog } from "../chart.js";
import { html, useMemo, useState } from "../html.js";
import { Chip, Empty, Table, Waiting } from "../parts.js";
import { LAYERS, duration, instant, rate } from "../words.js";

const SPANS = { "1h": "1 hour", "24h": "24 hours", "30d": "30 days" };
const EVERY = { "1h": 5000, "24h": 60_000, "30d": 300_000 };
const MOST_TABLES = 6; // one colour each
const seconds = (iso) => Date.parse(iso) / 1000;

/** Of a flow; of one table of it where `table` names one. */
export function History({ flow, table, target, span = "1h", onSpan }) {
  const { data, problem } = useData(`api/flows/${encodeURIComponent(flow)}/metrics?span=${span}`, EVERY[span]);
  const [scale, setScale] = useState("auto");
  const charts = useMemo(() => (data ? chartsOf(data, target, table) : []), [data, target, table]);
  const markers = useMemo(() => (data?.markers ?? []).map((one) => ({ at: seconds(one.at), text: one.text })), [data]);
  return html`<div class="decide spans" role="group" aria-label="What is shown">
      ${Object.entries(SPANS).map(([id, name]) => html`<button type="button" class="small" key=${id} aria-pressed=${id === span ? "true" : "false"} onClick=${() => onSpan(id)}>${name}</button>`)}
      <span class="grow"></span>
      <label class="inline">scale <select value=${scale} onChange=${(e) => setScale(e.target.value)}>${["auto", "linear", "log"].map((one) => html`<option key=${one} value=${one} selected=${one === scale}>${one}</option>`)}</select></label>
    </div>
    ${data ? null : html`<${Waiting} problem=${problem} />`}
    ${data && !data.points.length ? html`<${Empty}>No epoch finished in the last ${SPANS[span]}.${span === "30d" ? null : html` Older ones: choose a longer time.`}<//>` : null}
    ${data?.points.length
      ? html`<p class="quiet small">One point for each ${duration(data.step_s * 1000)}; times are UTC. A dotted line marks an event.</p>
          <div class="charts">${charts.map((one) => html`<${Lines} key=${one.title} ...${one} markers=${markers} from=${seconds(data.since)} to=${seconds(data.until)} log=${scale === "log" || (scale === "auto" && wantsLog(one.series))} />`)}</div>`
      : null}
    ${data?.markers.length
      ? html`<${Table} label="Events" rows=${data.markers.toReversed().slice(0, 20)} key=${(one, i) => `${one.at} ${i}`} columns=${[
          { name: "when (UTC)", time: true, of: (one) => instant(one.at).slice(0, 19) },
          { name: "kind", of: (one) => html`<${Chip} kind="warn">${one.kind}<//>` },
          { name: "what happened", wide: true, of: (one) => one.text },
        ]} />`
      : null}`;
}

/** Four charts of one answer; a span without an epoch is a gap. */
function chartsOf({ points, since, until, step_s: step }, target, table) {
  const first = Math.ceil(seconds(since) / step) * step;
  const times = Array.from({ length: Math.floor((seconds(until) - first) / step) + 1 }, (_, i) => first + i * step);
  const at = new Map(points.map((one) => [Math.round(seconds(one.at)), one]));
  const of = (pick) => times.map((t) => (at.has(t) ? pick(at.get(t)) ?? null : null));
  const layers = LAYERS.filter((layer) => (!table || table.startsWith(`${layer}.`)) && points.some((one) => layer in one.lags));
  const total = new Map();
  for (const one of points) for (const [name, rows] of Object.entries(one.rows)) total.set(name, (total.get(name) ?? 0) + rows);
  const busiest = [...total].sort(([, a], [, b]) => b - a).slice(0, MOST_TABLES).map(([name]) => name).sort();
  const tables = table ? [table] : busiest;
  return [
    { title: "Freshness", unit: "source to readable, the mean of each layer", format: duration, target, times, series: layers.map((layer) => ({ name: layer, values: of((one) => one.lags[layer]?.mean_ms) })) },
    { title: "Rows per second", unit: table ? "rows written" : total.size > MOST_TABLES ? `rows written, the ${MOST_TABLES} busiest of ${total.size} tables` : "rows written to each table", format: rate, times, series: tables.map((table) => ({ name: table, values: of((one) => (one.rows[table] ?? 0) / one.seconds) })) },
    { title: "Epoch time", unit: "mean and longest", format: duration, times, series: [{ name: "mean", values: of((one) => one.epoch_ms) }, { name: "longest", values: of((one) => one.longest_ms) }] },
    { title: "Worst lag", unit: "the latest row of each layer", format: duration, target, times, series: layers.map((layer) => ({ name: layer, values: of((one) => one.lags[layer]?.most_ms) })) },
  ];
}
