// The query box: Spark SQL over all tiers, answered by the engine in a process of its own.
import { post, useData } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Empty, Trouble } from "../parts.js";
import { count, duration, plural } from "../words.js";

let kept = { sql: "", answer: null, problem: null, asked: "" }; // over the change of pages

export default function Query({ query, about }) {
  const [sql, setSql] = useState(query.sql ?? kept.sql);
  const [limit, setLimit] = useState(100);
  const [result, setResult] = useState(query.sql && query.sql !== kept.asked ? {} : kept);
  const [since, setSince] = useState(null);
  const running = useRef(null);
  const box = useRef(null);
  const { data: tables } = useData("api/search?q=&limit=100");
  useEffect(() => {
    if (query.sql) setSql(query.sql);
  }, [query.sql]);
  useEffect(() => {
    kept = { ...kept, sql };
  }, [sql]);
  const ask = async () => {
    if (!sql.trim() || running.current) return;
    const control = new AbortController();
    running.current = control;
    setSince(Date.now());
    try {
      const answer = await post("api/query", { sql, limit }, { signal: control.signal });
      kept = { sql, asked: sql, answer, problem: null };
    } catch (problem) {
      kept = { sql, asked: sql, answer: null, problem: problem.name === "AbortError" ? null : problem };
    }
    running.current = null;
    setResult(kept);
    setSince(null);
  };
  useEffect(() => () => running.current?.abort(), []);
  const insert = (name) => {
    const { selectionStart: from, selectionEnd: to } = box.current;
    setSql(sql ? sql.slice(0, from) + name + sql.slice(to) : `SELECT * FROM ${name}`);
    box.current.focus();
  };
  const key = (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      ask();
    }
  };
  const off = about && !about.may_query;
  return html`<div class="title"><h1>Query</h1><p class="quiet">Spark SQL over all tiers; <code>.hot</code>, <code>.warm</code>, <code>.cold</code>, <code>.changes</code> behind a name read a part</p></div>
    ${off ? html`<div class="trouble">${about.query_note}</div>` : null}
    <div class="asking card">
      <textarea ref=${box} rows="6" spellcheck=${false} autocapitalize="off" aria-label="SQL" placeholder="SELECT * FROM dws.revenue_by_product" value=${sql} disabled=${off} onInput=${(e) => setSql(e.target.value)} onKeyDown=${key}></textarea>
      <div class="decide">
        <button type="button" class="primary" onClick=${ask} disabled=${off || since !== null || !sql.trim()}>Run <kbd>Ctrl Enter</kbd></button>
        ${since !== null ? html`<button type="button" onClick=${() => running.current?.abort()}>Stop</button> <${Clock} since=${since} />` : null}
        <span class="grow"></span>
        <label class="inline">at most <select value=${limit} onChange=${(e) => setLimit(Number(e.target.value))}>${[20, 100, 500, 1000].map((n) => html`<option key=${n} value=${n} selected=${n === limit}>${n} rows</option>`)}</select></label>
      </div>
      <div class="tables" aria-label="Tables">${(tables ?? []).filter((t) => t.kind === "table").map((t) => html`<button type="button" key=${t.name} class="small" title=${t.description} onClick=${() => insert(t.name)}>${t.name}</button>`)}</div>
    </div>
    <div aria-live="polite">
      ${result.problem ? html`<${Trouble} problem=${result.problem} /><${Place} sql=${result.asked} problem=${result.problem} />` : null}
      ${result.answer ? html`<${Answer} answer=${result.answer} />` : null}
    </div>`;
}

function Clock({ since }) {
  const [now, set] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), 100);
    return () => clearInterval(timer);
  }, []);
  return html`<span class="quiet">${duration(now - since)}; the first answer waits for the engine to start</span>`;
}

/** The line of the query that an error is about, with a mark below its place. */
function Place({ sql, problem }) {
  if (problem.file !== "query" || !problem.line) return null;
  const line = sql.split("\n")[problem.line - 1];
  if (line === undefined) return null;
  return html`<pre class="place" aria-hidden="true">${`${line}\n`}<b>${`${" ".repeat(Math.max(0, (problem.column ?? 1) - 1))}^`}</b></pre>`;
}

function Answer({ answer: { columns, rows, more, seconds } }) {
  return html`<p class="quiet">${more ? `the first ${count(rows.length)} rows, and there are more` : plural(rows.length, "row")}; ${duration(seconds * 1000)}</p>
    ${columns.length && rows.length
      ? html`<div class="scroll card result" tabindex="0" role="region" aria-label="Answer">
          <table>
            <thead><tr>${columns.map((c) => html`<th scope="col" key=${c.name} class=${isNumber(c.type) ? "right" : ""}>${c.name}<small class="quiet">${c.type}</small></th>`)}</tr></thead>
            <tbody>${rows.map((row, i) => html`<tr key=${i}>${row.map((v, j) => html`<td key=${j} class=${isNumber(columns[j].type) ? "right" : ""}>${cell(v)}</td>`)}</tr>`)}</tbody>
          </table>
        </div>`
      : html`<${Empty}>No rows.<//>`}`;
}

const isNumber = (type) => /^(u?int|float|double|half|decimal)/.test(type);
function cell(value) {
  if (value === null) return html`<i class="null">NULL</i>`;
  const text = String(value);
  return text.length > 200 ? html`<span title=${text}>${text.slice(0, 200)}…</span>` : text;
}
