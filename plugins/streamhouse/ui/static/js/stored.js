// What a table holds now: its rows and sizes by tier, its last commits, and some of its rows. The engine is asked.
import { post } from "./api.js";
import { Answer } from "./answer.js";
import { html, useEffect, useRef, useState } from "./html.js";
import { Clock, Table, Trouble } from "./parts.js";
import { bytes, count, instant } from "./words.js";

const LAKES = ["warm", "cold"];
const known = new Map(); // table → what was read last

/** The queries of one table; each is shown as soon as it is answered. */
function queriesOf({ name, tiers }) {
  const held = tiers.map((t) => t.tier);
  const lakes = held.filter((tier) => LAKES.includes(tier));
  const counts = [`SELECT 'all' AS tier, COUNT(*) AS n FROM ${name}`, ...(held.length > 1 ? held.map((tier) => `SELECT '${tier}', COUNT(*) FROM ${name}.${tier}`) : [])];
  return [
    { id: "sample", text: "reading some rows", sql: `SELECT * FROM ${name} LIMIT 20` },
    { id: "counts", text: "counting rows", sql: counts.join(" UNION ALL ") },
    ...(lakes.length
      ? [
          { id: "files", text: "adding up files", sql: `SELECT tier, COUNT(*) AS files, SUM(bytes) AS bytes FROM ${name}.files GROUP BY tier` },
          { id: "commits", text: "looking for the last commits", sql: lakes.map((tier) => `SELECT '${tier}' AS tier, COUNT(*) AS n, MAX(committed_at) AS at FROM ${name}.${tier}.snapshots`).join(" UNION ALL ") },
        ]
      : []),
  ];
}

export function Stored({ table, about }) {
  const [found, setFound] = useState(known.get(table.name) ?? null);
  const [busy, setBusy] = useState(null);
  const running = useRef(null);
  const read = async () => {
    running.current?.abort();
    const control = new AbortController();
    running.current = control;
    const since = Date.now();
    let now = { at: new Date().toISOString() };
    for (const one of queriesOf(table)) {
      setBusy({ since, text: one.text });
      try {
        now = { ...now, [one.id]: await post("api/query", { sql: one.sql, limit: 20 }, { signal: control.signal }) };
      } catch (problem) {
        if (problem.name === "AbortError") break;
        now = { ...now, problem };
        break;
      }
      setFound(now);
    }
    if (running.current !== control) return;
    running.current = null;
    known.set(table.name, now);
    setFound(now);
    setBusy(null);
  };
  useEffect(() => {
    if (!known.has(table.name) && about?.may_query) read();
    return () => {
      const left = running.current;
      running.current = null;
      left?.abort();
    };
  }, [table.name, about?.may_query]);
  if (about && !about.may_query) return html`<div class="trouble">${about.query_note}</div>`;
  return html`<div class="decide">
      ${busy ? html`<button type="button" class="small" onClick=${() => running.current?.abort()}>Stop</button> <span aria-busy="true"><${Clock} since=${busy.since} text=${busy.text} /></span>` : html`<button type="button" class="small" onClick=${read}>${found ? "Read again" : "Read"}</button>`}
      ${found && !busy ? html`<span class="quiet small">as of ${instant(found.at)}</span>` : null}
    </div>
    ${found?.problem ? html`<${Trouble} problem=${found.problem} />` : null}
    ${found?.counts ? html`<${Table} label="Rows by tier" rows=${byTier(table, found)} key=${(one) => one.tier} columns=${[
      { name: "tier", of: (one) => (one.tier === "all" ? html`<b>all tiers as one</b>` : html`<span class="tier ${one.tier}"><i aria-hidden="true"></i>${one.tier}</span>`) },
      { name: "rows", right: true, of: (one) => (one.rows === undefined ? null : html`<b>${count(one.rows)}</b>`) },
      { name: "size", right: true, of: (one) => (one.bytes === undefined ? null : bytes(one.bytes)) },
      { name: "files", right: true, of: (one) => (one.files === undefined ? null : count(one.files)) },
      { name: "last commit (UTC)", time: true, of: (one) => one.at ?? null },
    ]} />` : null}
    ${found?.sample ? html`<h3>Some rows</h3><${Answer} answer=${{ ...found.sample, more: false, seconds: undefined }} />` : null}`;
}

function byTier(table, found) {
  const of = (answer) => new Map((answer?.rows ?? []).map(([tier, ...rest]) => [tier, rest.map((v) => (typeof v === "string" && /^\d+$/.test(v) ? Number(v) : v))]));
  const [counts, files, commits] = [of(found.counts), of(found.files), of(found.commits)];
  const tiers = ["all", ...table.tiers.map((t) => t.tier)];
  const only = table.tiers.length === 1 ? counts.get("all")?.[0] : undefined; // one tier holds all rows
  return tiers.map((tier) => ({
    tier,
    rows: counts.get(tier)?.[0] ?? only,
    files: files.get(tier)?.[0] ?? (found.files && LAKES.includes(tier) ? 0 : undefined),
    bytes: files.get(tier)?.[1] ?? (found.files && LAKES.includes(tier) ? 0 : undefined),
    at: commits.get(tier)?.[1]?.slice(0, 19).replace("T", " "),
  }));
}
