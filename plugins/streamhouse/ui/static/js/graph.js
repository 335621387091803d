// A flow drawn: nodes are buttons in reading order, lines a picture behind them.
import { html, useLayoutEffect, useMemo, useRef, useState } from "./html.js";
import { placed } from "./layout.js";
import { Chip, FailingTiers, Outcome, lacksRows } from "./parts.js";
import { compact, plural, rate } from "./words.js";

const NAMES = { source: "SOURCES", ods: "ODS", dwd: "DWD", dws: "DWS", ads: "ADS" };

function describe(node, reads) {
  const tiers = node.tiers.map((t) => `${t.tier} ${t.kept}`).join(", ");
  const steps = node.steps.map((s) => `${s.action}, ${s.strategy}`).join("; ");
  return [
    node.kind === "source" ? `source, ${node.detail}` : node.kind === "table" ? "table" : `${node.kind} table`,
    steps && `written by ${steps}`,
    reads.length && `reads ${reads.join(", ")}`,
    tiers && `in ${tiers}`,
    node.kind !== "source" && `${plural(node.rows, "row")} written, ${rate(node.rows_per_second)} per second`,
    node.new && "would be new",
    node.outcome && `a change waits: ${node.outcome}`,
    node.stands && "stands until a person decides",
    ...node.troubles.map((t) => (lacksRows(t) ? t.text : `${t.job} of its ${t.tier} tier fails: ${t.code} ${t.text}`)),
  ].filter(Boolean).join("; ");
}

function Node({ node, at, selected, faded, columns, several, onSelect, onKey, reads, live }) {
  const kind = node.kind === "source" ? "source" : node.kind;
  return html`<button type="button" class="node ${kind} ${node.new ? "new" : ""} ${selected ? "selected" : ""} ${faded ? "faded" : ""}" data-node=${node.id} aria-pressed=${selected ? "true" : "false"}
    aria-description=${describe(node, reads)} style=${{ left: `${at.x}px`, top: `${at.y}px`, width: `${at.w}px`, height: `${at.h}px` }} onClick=${() => onSelect(node.id)} onKeyDown=${onKey}>
    <b title=${node.id}>${node.kind === "source" ? null : html`<span class="visually-hidden">${node.layer}.</span>`}${node.name}</b>
    ${node.kind === "source" ? html`<span class="line">${node.detail} · ${plural(node.columns, "column")}</span>` : null}
    ${node.kind === "external" ? html`<span class="line">of another flow</span>` : null}
    ${node.kind === "quarantine" ? html`<span class="line">rows that were kept out</span>` : null}
    ${node.steps.map((s) => html`<span class="line" key=${s.step} title="${s.action}, ${s.strategy}, segment ${s.segment}"><em>${s.strategy}</em>${several ? html` · ${s.segment}` : null}${s.action === node.name ? null : html` · ${s.action}`}</span>`)}
    ${node.kind === "source"
      ? null
      : html`<span class="line marks">${columns?.length ? html`<mark>${columns.join(", ")}</mark>` : html`${node.tiers.map((t) => html`<span class="tier ${t.tier}" key=${t.tier}><i></i>${t.tier}</span>`)}<span class="rate ${node.rows_per_second ? "on" : ""}">${live || node.rows_per_second ? `${rate(node.rows_per_second)}/s` : `${compact(node.rows)} written`}</span>`}</span>`}
    ${node.outcome || node.stands || node.new || node.troubles.length
      ? html`<span class="flag">${node.new ? html`<${Chip} kind="ok">NEW<//>` : null}<${FailingTiers} of=${node.troubles} />${node.stands ? html`<${Chip} kind="warn" title="stands until a person decides">WAITS<//>` : null}${node.outcome ? html`<${Outcome} outcome=${node.outcome} />` : null}</span>`
      : null}
  </button>`;
}

/** `trace`: table -> columns that a chosen column comes from or goes into; null: none is chosen. */
export function FlowGraph({ graph, selected, trace, live, onSelect }) {
  // Rates change every second; where things stand only with the plan.
  const shape = JSON.stringify([graph.nodes.map((n) => [n.id, n.layer, n.kind, n.steps.length]), graph.edges]);
  const at = useMemo(() => placed(graph), [shape]);
  const frame = useRef(null);
  const [zoom, setZoom] = useState(1);
  const [fits, setFits] = useState(true);
  useLayoutEffect(() => {
    const fit = () => fits && frame.current && setZoom(Math.max(0.8, Math.min(1, (frame.current.clientWidth - 2) / at.width)));
    fit();
    const watch = new ResizeObserver(fit);
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, [at, fits]);
  useLayoutEffect(() => {
    const here = selected && at.nodes.get(selected);
    if (here && frame.current.scrollWidth > frame.current.clientWidth) frame.current.scrollLeft = (here.x + here.w / 2) * zoom - frame.current.clientWidth / 2;
  }, [selected, zoom, at]);
  const focus = (id) => id && frame.current.querySelector(`[data-node="${CSS.escape(id)}"]`)?.focus();
  const key = (id) => (event) => {
    const here = at.nodes.get(id);
    const near = {
      ArrowRight: () => graph.edges.filter((e) => e.source === id).map((e) => e.target),
      ArrowLeft: () => graph.edges.filter((e) => e.target === id).map((e) => e.source),
      ArrowDown: () => graph.nodes.map((n) => n.id).filter((n) => Math.abs(at.nodes.get(n).x - here.x) < 40 && at.nodes.get(n).y > here.y),
      ArrowUp: () => graph.nodes.map((n) => n.id).filter((n) => Math.abs(at.nodes.get(n).x - here.x) < 40 && at.nodes.get(n).y < here.y),
    }[event.key];
    if (!near) return;
    event.preventDefault();
    const [next] = near().sort((a, b) => Math.abs(at.nodes.get(a).y - here.y) - Math.abs(at.nodes.get(b).y - here.y));
    focus(next);
  };
  const change = (by) => (setFits(false), setZoom((z) => Math.max(0.4, Math.min(1.6, z * by))));
  return html`<div class="graph card">
    <div class="legend">
      <span class="tier hot"><i></i>hot</span><span class="tier warm"><i></i>warm</span><span class="tier cold"><i></i>cold</span>
      <span class="edge-key"><i></i>changes</span><span class="edge-key lookup"><i></i>lookup</span>
      ${graph.segments.map((s) => html`<span key=${s.name} class="quiet">segment <b>${s.name}</b> ${s.pace}</span>`)}
      <span class="zoom"><button type="button" class="icon" aria-label="Smaller" onClick=${() => change(1 / 1.2)}>−</button><button type="button" class="icon" aria-label="Larger" onClick=${() => change(1.2)}>+</button><button type="button" class="small" onClick=${() => setFits(true)}>Fit</button></span>
    </div>
    <div class="canvas" ref=${frame} role="group" aria-label="Graph of ${graph.flow}">
      <div class="sized" style=${{ width: `${at.width * zoom}px`, height: `${at.height * zoom}px` }}>
        <div class="scaled" style=${{ width: `${at.width}px`, height: `${at.height}px`, transform: `scale(${zoom})` }}>
          ${at.bands.map((band) => html`<div class="band" key=${band.layer} aria-hidden="true" style=${{ left: `${band.x}px`, width: `${band.w}px` }}><span>${NAMES[band.layer] ?? band.layer}</span></div>`)}
          <svg width=${at.width} height=${at.height} aria-hidden="true">
            <defs>${["", "on"].map((c) => html`<marker key=${c} id="arrow${c}" class=${c} viewBox="0 0 8 8" refX="6" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0,0.6L7.4,4L0,7.4z" /></marker>`)}</defs>
            ${at.edges.map((edge) => {
              const on = trace ? edge.source in trace && edge.target in trace : selected && (edge.source === selected || edge.target === selected);
              return html`<path key="${edge.source} ${edge.target} ${edge.mode}" d=${edge.path} class="edge ${edge.mode} ${on ? "on" : ""} ${(trace || selected) && !on ? "faded" : ""}" marker-end="url(#arrow${on ? "on" : ""})" />`;
            })}
          </svg>
          ${graph.nodes.map(
            (node) => html`<${Node} key=${node.id} node=${node} at=${at.nodes.get(node.id)} selected=${node.id === selected} faded=${trace && !(node.id in trace)} columns=${trace?.[node.id]}
              several=${graph.segments.length > 1} live=${live} reads=${graph.edges.filter((e) => e.target === node.id).map((e) => e.source)} onSelect=${onSelect} onKey=${key(node.id)} />`,
          )}
        </div>
      </div>
    </div>
  </div>`;
}
