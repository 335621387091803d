// What a query read: of each table the tiers, columns, rows, files and conditions.
import { post } from "./api.js";
import { html, useEffect, useState } from "./html.js";
import { Empty, Table, Tier, Waiting } from "./parts.js";
import { bytes, count } from "./words.js";

/** Asks once, by the engine's own command; the query is stopped when this is closed. */
export function Reads({ sql }) {
  const [{ found, problem }, set] = useState({});
  useEffect(() => {
    const control = new AbortController();
    post("api/query/reads", { sql }, { signal: control.signal }).then(
      (answer) => set({ found: answer }),
      (wrong) => (wrong.name === "AbortError" ? null : set({ problem: wrong })),
    );
    return () => control.abort();
  }, [sql]);
  if (!found) return html`<div class="reads"><${Waiting} problem=${problem} /></div>`;
  return html`<div class="reads">
    <p class="quiet small">Answered by ${found.engine}${found.reason ? ` (${found.reason})` : ""}.</p>
    ${found.reads.length
      ? html`<${Table} label="What was read" rows=${found.reads} columns=${[
          { name: "table", of: (one) => one.table },
          { name: "as of", of: (one) => one.moment || "now" },
          { name: "tier", of: (one) => (one.tier ? html`<${Tier} tier=${one.tier} />` : "state") },
          { name: "columns", wide: true, of: (one) => (one.columns.length ? `${one.columns.length} of ${one.of_columns}: ${one.columns.join(", ")}` : "none: counts") },
          { name: "rows read", right: true, of: (one) => part(one.rows, one.of_rows, count) },
          { name: "files", right: true, of: (one) => part(one.files, one.of_files, count) },
          { name: "size", right: true, of: (one) => part(one.bytes, one.of_bytes, bytes) },
          { name: "conditions that reach the store", wide: true, of: (one) => one.where.join(" and ") || null },
        ]} />`
      : html`<${Empty}>It reads no table.<//>`}
  </div>`;
}

const part = (some, every, told) => (some === null ? null : `${told(some)} of ${told(every)}`);
