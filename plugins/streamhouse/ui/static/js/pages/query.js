// The query box: Spark SQL over all tiers, answered by the engine in a process of its own.
import { Answer } from "../answer.js";
import { post, useData } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Ago, Clock, Trouble } from "../parts.js";
import { SqlBox } from "../sql_box.js";
import { duration, plural } from "../words.js";

const MOST_REMEMBERED = 50;
const MOST_BUTTONS = 40;
let kept = { sql: "", answer: null, problem: null, asked: "" }; // over the change of pages

export default function Query({ query, about }) {
  const [sql, setSql] = useState(query.sql ?? kept.sql);
  const [limit, setLimit] = useState(100);
  const [result, setResult] = useState(query.sql && query.sql !== kept.asked ? {} : kept);
  const [since, setSince] = useState(null);
  const [past, remember] = useHistory(about?.root);
  const running = useRef(null);
  const box = useRef(null);
  const { data: tables } = useData("api/tables");
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
      remember({ sql, at: new Date().toISOString(), rows: answer.rows.length, more: answer.more, seconds: answer.seconds });
    } catch (problem) {
      kept = { sql, asked: sql, answer: null, problem: problem.name === "AbortError" ? null : problem };
      if (kept.problem) remember({ sql, at: new Date().toISOString(), code: problem.code });
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
  const off = about && !about.may_query;
  const named = tables ?? [];
  return html`<div class="title"><h1>Query</h1><p class="quiet">Spark SQL over all tiers; <code>.hot</code>, <code>.warm</code>, <code>.cold</code>, <code>.changes</code> behind a name read a part</p></div>
    ${off ? html`<div class="trouble">${about.query_note}</div>` : null}
    <div class="asking card">
      <${SqlBox} sql=${sql} onChange=${setSql} onRun=${ask} tables=${named} disabled=${off} box=${box} />
      <div class="decide">
        <button type="button" class="primary" onClick=${ask} disabled=${off || since !== null || !sql.trim()}>Run <kbd>Ctrl Enter</kbd></button>
        ${since !== null ? html`<button type="button" onClick=${() => running.current?.abort()}>Stop</button> <${Clock} since=${since} text="the first answer waits for the engine to start" />` : null}
        <span class="grow"></span>
        <label class="inline">at most <select value=${limit} onChange=${(e) => setLimit(Number(e.target.value))}>${[20, 100, 500, 1000].map((n) => html`<option key=${n} value=${n} selected=${n === limit}>${n} rows</option>`)}</select></label>
      </div>
      <div class="tables" aria-label="Tables">${named.slice(0, MOST_BUTTONS).map((t) => html`<button type="button" key=${t.name} class="small" title=${Object.keys(t.columns).join(", ")} disabled=${off} onClick=${() => insert(t.name)}>${t.name}</button>`)}
        ${named.length > MOST_BUTTONS ? html`<span class="quiet small">and ${named.length - MOST_BUTTONS} more: type the beginning of a name</span>` : null}</div>
      <${Past} past=${past} onChoose=${(one) => (setSql(one.sql), box.current.focus())} />
    </div>
    <div aria-live="polite">
      ${result.problem ? html`<${Trouble} problem=${result.problem} /><${Place} sql=${result.asked} problem=${result.problem} />` : null}
      ${result.answer ? html`<${Answer} key=${result.asked} answer=${result.answer} sql=${result.asked} />` : null}
    </div>`;
}

/** What was asked in this browser of this project, the newest first; the same SQL once. */
function useHistory(root) {
  const key = `streamhouse-queries ${root ?? ""}`;
  const [past, set] = useState([]);
  useEffect(() => {
    try {
      set(JSON.parse(localStorage.getItem(key) ?? "[]"));
    } catch {
      set([]); // the browser lets this page store nothing
    }
  }, [key]);
  const remember = (one) =>
    set((before) => {
      const now = [one, ...before.filter((other) => other.sql !== one.sql)].slice(0, MOST_REMEMBERED);
      try {
        localStorage.setItem(key, JSON.stringify(now));
      } catch {
        // then it lasts as long as the page
      }
      return now;
    });
  return [past, remember];
}

function Past({ past, onChoose }) {
  if (!past.length) return null;
  return html`<details class="past"><summary>${plural(past.length, "query").replace("querys", "queries")} asked before</summary>
    <ul class="plain">${past.map((one) => html`<li key=${one.sql}><button type="button" class="link" title=${one.sql} onClick=${() => onChoose(one)}>${one.sql.replace(/\s+/g, " ").slice(0, 160)}</button>
      <span class="quiet small"><${Ago} at=${one.at} /> · ${one.code ?? `${plural(one.rows, "row")}${one.more ? " and more" : ""}, ${duration(one.seconds * 1000)}`}</span></li>`)}</ul>
  </details>`;
}

/** The line of the query that an error is about, with a mark below its place. */
function Place({ sql, problem }) {
  if (problem.file !== "query" || !problem.line) return null;
  const line = sql.split("\n")[problem.line - 1];
  if (line === undefined) return null;
  return html`<pre class="place" aria-hidden="true">${`${line}\n`}<b>${`${" ".repeat(Math.max(0, (problem.column ?? 1) - 1))}^`}</b></pre>`;
}
