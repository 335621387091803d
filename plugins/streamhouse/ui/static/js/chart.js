// One chart over time: uPlot in the colours of the page, with markers for events and a line for the target.
import { html, useEffect, useRef } from "./html.js";
import uPlot from "../vendor/uplot.js";

const HEIGHT = 170;
const NONE = [];
const COLOURS = ["--accent", "--ok", "--warm", "--hot", "--cold", "--soft"];

/** A chart needs a log scale when one outlier makes the rest a flat line. */
export function wantsLog(series) {
  const values = series.flatMap((one) => one.values).filter((v) => v > 0).sort((a, b) => a - b);
  return values.length > 8 && values.at(-1) > 50 * values[Math.floor(values.length / 2)];
}

/** `times` in seconds, or any numbers unless `time`; `series`: {name, values}; `format(value)`; `target` in units of the values; `markers`: {at (s), text}. */
export function Lines({ title, unit, times, series, format, target, markers = NONE, log = false, from, to, time = true }) {
  const place = useRef(null);
  const theme = document.documentElement.dataset.theme;
  useEffect(() => {
    const element = place.current;
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 }, font: "11px system-ui, sans-serif" };
    const options = {
      width: element.clientWidth,
      height: HEIGHT,
      cursor: { ...(time ? { sync: { key: "history" } } : {}), points: { size: 6 } },
      legend: { live: true },
      scales: { x: { time, range: () => [from, to] }, y: { distr: log ? 3 : 1, range: log ? undefined : (_, least, most) => [Math.min(least ?? 0, 0) * 1.08, Math.max(most ?? 0, target ?? 0, 1e-9) * 1.08] } },
      axes: [{ ...axis, space: 70, values: (_, ticks, __, ___, step) => ticks.map((v) => (time ? clock(v, step) : format(v))) }, { ...axis, size: 68, values: (_, ticks) => ticks.map((v) => (v === null ? "" : format(v))) }],
      series: [
        { label: time ? "time" : unit, value: (_, v) => (v === null ? "–" : !time ? format(v) : new Date(v * 1000).toLocaleString("en-GB", { timeZone: "UTC" }) + " UTC") },
        ...series.map((one, i) => ({
          label: one.name,
          stroke: colour(COLOURS[i % COLOURS.length]),
          width: 1.8,
          points: { show: one.values.filter((v) => v !== null).length < 60, size: 5 }, // one epoch alone is a point, no line
          value: (_, v) => (v === null || v === undefined ? "–" : format(v)),
        })),
      ],
      hooks: { draw: [(chart) => drawn(chart, { target, markers, colour })] },
      tzDate: (ts) => uPlot.tzDate(new Date(ts * 1000), "UTC"),
    };
    const values = series.map((one) => (log ? one.values.map((v) => (v > 0 ? v : null)) : one.values));
    const chart = new uPlot(options, [times, ...values], element);
    const watched = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watched.observe(element);
    return () => {
      watched.disconnect();
      chart.destroy();
    };
  }, [times, series, log, theme, from, to, target, markers, time]);
  const most = Math.max(...series.flatMap((one) => one.values.map((v) => v ?? 0)), 0);
  return html`<figure class="card chart history">
    <figcaption><b>${title}</b> <span class="quiet">${unit}${log ? ", log scale" : ""}${target ? `; the line is the target, ${format(target)}` : ""}</span></figcaption>
    <div ref=${place} role="img" aria-label="${title}: ${times.length} points, at most ${format(most)}" ></div>
  </figure>`;
}

/** A tick of the time axis: the day at midnight and where ticks are days apart, else hours and minutes; UTC. */
function clock(at, step) {
  const text = new Date(at * 1000).toISOString();
  return step >= 86_400 || text.slice(11, 16) === "00:00" ? text.slice(5, 10) : text.slice(11, 16);
}

function drawn(chart, { target, markers, colour }) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.lineWidth = 1;
  ctx.setLineDash([5, 4]);
  if (target && target <= chart.scales.y.max) {
    const y = chart.valToPos(target, "y", true);
    line(ctx, colour("--text"), bbox.left, y, bbox.left + bbox.width, y);
  }
  ctx.setLineDash([2, 3]);
  for (const one of markers) {
    const x = chart.valToPos(one.at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    line(ctx, colour("--warn"), x, bbox.top, x, bbox.top + bbox.height);
  }
  ctx.restore();
}

function line(ctx, stroke, x1, y1, x2, y2) {
  ctx.strokeStyle = stroke;
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}
