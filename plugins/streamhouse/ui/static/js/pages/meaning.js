// What a table means: its words, its columns, measures and dimensions.
import { html } from "../html.js";
import { Table } from "../parts.js";

export const hasMeaning = (m) => Boolean(m && (m.synonyms.length || m.columns.length || m.measures.length || m.dimensions.length));

const list = (words) => words.join(", ") || null;
const values = (v) => list(Object.entries(v).map(([code, words]) => [code, ...words.filter((w) => w !== code)].join(" = ")));
const shared = [{ name: "description", wide: true, of: (x) => x.description || null }, { name: "also called", of: (x) => list(x.synonyms) }];

export function Meaning({ of: m }) {
  return html`${m.description ? html`<p>${m.description}</p>` : null}
    ${m.synonyms.length ? html`<p class="small">also called ${m.synonyms.join(", ")}</p>` : null}
    ${m.columns.length ? html`<${Table} label="What columns mean" rows=${m.columns} columns=${[
      { name: "column", of: (c) => html`<code>${c.name}</code>` }, { name: "unit", of: (c) => c.unit }, ...shared, { name: "values", of: (c) => values(c.values) }, { name: "points to", of: (c) => c.references },
    ]} />` : null}
    ${m.measures.length ? html`<${Table} label="Measures" rows=${m.measures} columns=${[
      { name: "measure", of: (x) => html`<code>${x.name}</code>` }, { name: "unit", of: (x) => x.unit }, { name: "SQL", of: (x) => html`<code>${x.sql}</code>` }, ...shared,
    ]} />` : null}
    ${m.dimensions.length ? html`<${Table} label="Dimensions" rows=${m.dimensions} columns=${[
      { name: "dimension", of: (x) => html`<code>${x.name}</code>` }, { name: "column", of: (x) => x.column }, { name: "levels", of: (x) => x.levels.join(" → ") || null }, ...shared,
    ]} />` : null}`;
}
