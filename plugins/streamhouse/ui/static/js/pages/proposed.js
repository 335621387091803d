// What a proposal would make: files, graph, plan, rows, and how it is taken on.
import { post, useData } from "../api.js";
import { Code } from "../code.js";
import { FlowGraph } from "../graph.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Ago, Chip, Clock, Copy, Empty, Table, Tabs, Trouble, Waiting, toast } from "../parts.js";
import { go, link } from "../route.js";
import { count, plural } from "../words.js";
import { Answer } from "../answer.js";

const INTO = new Set(["revised", "written"]); // events whose detail says where to
const VERDICTS = { passed: "ok", failed: "bad", skipped: "calm", notice: "warn" };
const ROWS = 10;

export function Proposed({ page, about, busy, onTry, onDone }) {
  const [at, setAt] = useState(null);
  const p = page.proposal;
  const tabs = [
    ...(p.files.length ? [{ id: "files", name: `Files (${p.files.length})`, content: () => page.diffs.map((d) => html`<${File} key=${d.path} diff=${d} />`) }] : []),
    ...(p.flow ? [{ id: "graph", name: "Graph", content: () => html`<${Drawn} proposal=${p} />` }] : []),
    { id: "plan", name: "Plan and cost", content: () => html`<${Plan} proposal=${p} />` },
    ...(p.sql ? [{ id: "rows", name: "Rows", content: () => html`<${Rows} proposal=${p} about=${about} />` }] : []),
    { id: "checks", name: `Checks (${p.checks.length})`, content: () => html`<${Checks} ...${{ proposal: p, about, busy, onTry }} />` },
  ];
  return html`<section aria-labelledby="proposed">
    <h2 id="proposed">${p.files.length ? html`It would make <code>${p.table || p.action}</code>${p.flow ? html` in flow ${p.flow}` : null}` : p.table ? html`The answer is there already: <a href=${link(["tables", p.table])}>${p.table}</a>` : "It is a query, and no table"}</h2>
    ${p.reuses.map((r) => html`<p key=${r.name}><${Chip} kind="ok">${r.kind} reused<//> <b>${r.name}</b> <span class="quiet">${r.why}</span></p>`)}
    <${Tabs} label="Parts of the proposal" tabs=${tabs} at=${at ?? tabs[0].id} onChange=${setAt} />
  </section>
  ${p.files.length ? html`<${TakeOn} page=${page} about=${about} onDone=${onDone} />` : null}
  ${page.events.length ? html`<p class="quiet small">Proposal <code>${p.id}</code>: ${page.events.map((e, i) => html`<span key=${i}>${i ? ", " : ""}${e.what} ${INTO.has(e.what) ? "into " : ""}${e.detail} <${Ago} at=${e.at} /></span>`)}</p>` : null}`;
}

function File({ diff: d }) {
  const title = html`<p class="path"><code>${d.path}</code> ${d.is_new ? html`<${Chip} kind="ok">new file<//>` : html`<${Chip} kind="info">edited<//>`} <span class="quiet small">+${d.added}${d.removed ? ` −${d.removed}` : ""}</span></p>`;
  if (d.is_new) return html`<div>${title}<${Code} text=${d.after} language=${d.path.endsWith(".sql") ? "sql" : "yaml"} label=${d.path} /></div>`;
  return html`<div>${title}<figure class="code diff"><pre tabindex="0" aria-label="Changes of ${d.path}">${d.lines.map((line, i) => html`<${Line} key=${i} line=${line} />`)}</pre></figure></div>`;
}

const LINES = { "+": "added", "-": "gone", "@": "hunk", " ": "" };
const Line = ({ line }) => html`<span class="line ${LINES[line.sign]}">${line.sign === "@" ? line.text : `${line.sign} ${line.text}`}\n</span>`;

function Drawn({ proposal: p }) {
  const { data: graph, problem } = useData(`api/proposals/${p.id}/graph`);
  if (problem || graph === undefined) return html`<${Waiting} problem=${problem} />`;
  if (!graph) return html`<${Empty}>There is no flow to draw.<//>`;
  const made = new Set(graph.nodes.filter((n) => n.new).map((n) => n.id));
  return html`<p class="quiet">Flow ${p.flow} as it would be${made.size ? html`; <${Chip} kind="ok">NEW<//> is what is not there yet` : null}.</p>
    <${FlowGraph} graph=${graph} selected=${p.table} onSelect=${(id) => !made.has(id) && go(["tables", id], { flow: p.flow })} />`;
}

function Plan({ proposal: p }) {
  const c = p.cost;
  const tiers = Object.entries(c.tiers).map(([table, held]) => `${table}: ${held.join(", ")}`).join("; ");
  const facts = [
    ["the first run reads", c.first_rows === null ? "unknown" : `${plural(c.first_rows, "row")}${c.first_bytes === null ? "" : `, about ${count(c.first_bytes)} bytes`}`],
    ["each epoch reads", c.rows_per_epoch === null ? (c.notes.length ? "see below" : "unknown") : plural(c.rows_per_epoch, "row")],
    ["state", c.state || null],
    ["tiers", tiers || null],
  ].filter(([, value]) => value);
  return html`${p.steps.map((s) => html`<p key=${s.table || s.action}><b>${s.table || s.action}</b> <${Chip} kind="info">${s.strategy}<//> ${s.reason}</p>`)}
    ${p.outcomes.length ? html`<h3>What plan would say</h3><ul class="plain">${p.outcomes.map((o) => html`<li key=${o}>${o}</li>`)}</ul>` : null}
    ${p.steps.length ? html`<h3>Cost</h3><dl class="facts cost">${facts.map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v}</dd></div>`)}</dl>` : html`<p class="quiet">No step is new, so nothing is added to what flows take.</p>`}
    ${c.notes.length ? html`<ul class="plain quiet">${c.notes.map((n) => html`<li key=${n}>${n}</li>`)}</ul>` : null}
    ${p.sql ? html`<h3>SQL of the answer</h3><${Code} text=${p.sql} language="sql" label="SQL of the answer" />` : null}`;
}

/** The first rows: what a terminal showed already, else asked for here, by the engine in a process of its own. */
function Rows({ proposal: p, about }) {
  const [found, setFound] = useState({});
  const [since, setSince] = useState(null);
  const running = useRef(null);
  useEffect(() => () => running.current?.abort(), []);
  const show = async () => {
    const control = new AbortController();
    running.current = control;
    setSince(Date.now());
    try {
      setFound({ answer: await post("api/query", { sql: p.sql, limit: ROWS }, { signal: control.signal }) });
    } catch (problem) {
      setFound({ problem: problem.name === "AbortError" ? null : problem });
    }
    setSince(null);
  };
  const kept = p.preview.columns.length ? { columns: p.preview.columns.map((name) => ({ name, type: "" })), rows: p.preview.rows, more: false } : null;
  const shown = found.answer ?? kept;
  return html`${about?.may_query
      ? html`<div class="decide"><button type="button" onClick=${show} disabled=${since !== null}>Show the first ${ROWS} rows</button>
          ${since !== null ? html`<button type="button" onClick=${() => running.current?.abort()}>Stop</button> <${Clock} since=${since} text="the first answer waits for the engine to start" />` : null}
          <a class="button" href=${link(["query"], { sql: p.sql })}>Open as query</a></div>`
      : html`<div class="trouble">${about?.query_note}</div>`}
    <div aria-live="polite">
      ${found.problem ? html`<${Trouble} problem=${found.problem} />` : null}
      ${shown ? html`<${Answer} answer=${shown} />` : html`<p class="quiet">From the tables as they are.</p>`}
    </div>`;
}

function Checks({ proposal: p, about, busy, onTry }) {
  const makes = p.files.some((f) => f.path.startsWith("actions/"));
  const tried = p.checks.some((c) => c.name === "examples");
  return html`${p.checks.length ? html`<${Table} label="Checks" rows=${p.checks} columns=${[
      { name: "verdict", of: (c) => html`<${Chip} kind=${VERDICTS[c.verdict]}>${c.verdict}<//>` }, { name: "check", of: (c) => c.name }, { name: "found", wide: true, of: (c) => c.text || null },
    ]} />` : html`<${Empty}>Nothing was tried yet.<//>`}
    ${makes && p.flow && !tried
      ? html`<div class="decide"><button type="button" disabled=${busy || !about?.may_query} onClick=${onTry}>Compute examples on real rows</button>
          <span class="quiet small">${about?.may_query ? "starts Spark; the rows become part of the new action's file" : about?.query_note}</span></div>`
      : null}`;
}

/** From files to an environment, and from there to production: a person's words at each step. */
function TakeOn({ page, about, onDone }) {
  const { proposal: p, written } = page;
  const [name, setName] = useState("review");
  const [since, setSince] = useState(null);
  const [problem, setProblem] = useState(null);
  const [done, setDone] = useState(null);
  const running = useRef(null);
  useEffect(() => () => running.current?.abort(), []);
  const { data: progress } = useData(since === null ? null : `api/proposals/${p.id}/progress`, 1000);
  const write = async (environment) => {
    const control = new AbortController();
    running.current = control;
    setSince(Date.now());
    setProblem(null);
    try {
      const found = await post(`api/proposals/${p.id}/write`, { environment }, { signal: control.signal });
      setDone(found);
      toast(found.built ? `built in ${found.built}` : `written: ${found.files.join(", ")}`);
    } catch (refused) {
      if (refused.name !== "AbortError") setProblem(refused);
    }
    setSince(null);
    onDone();
  };
  const named = /^[a-z][a-z0-9_]*$/.test(name);
  const off = since !== null || !about?.may_decide || Boolean(about.engine_note);
  const why = about && !about.may_decide ? `${about.person} may ask, and not write.` : about?.engine_note;
  return html`<section aria-labelledby="take-on"><h2 id="take-on">Take it on <span class="quiet small">files serve nobody: what runs is what was applied last</span></h2>
    <div class="card steps">
      ${written ? html`<p><${Chip} kind="ok">written<//> The files are in the project.</p>` : null}
      <p class="quiet small">Before a file is written, the new step runs over a sample: in epochs and as one batch, which must give the same rows.</p>
      <div class="decide">
        ${written ? null : html`<button type="button" class="primary" disabled=${off} onClick=${() => write(null)}>Write the files into the project</button>`}
        ${p.flow ? html`<button type="button" disabled=${off || !named} onClick=${() => write(name)}>${written ? "Build it" : "Write and build it"} in the environment</button>
          <input type="text" aria-label="Environment" value=${name} onInput=${(e) => setName(e.target.value)} />` : null}
      </div>
      ${why ? html`<div class="trouble">${why}</div><${Commands} lines=${[`streamhouse proposals ${p.id} --write${p.flow && named ? ` --env ${name}` : ""}`]} />` : null}
      ${since !== null ? html`<p aria-busy="true"><button type="button" class="small" onClick=${() => running.current?.abort()}>Stop</button> <${Clock} since=${since} text=${progress?.said || "starting the engine"} /></p>` : null}
      <div aria-live="polite">${problem ? html`<${Trouble} problem=${problem} />` : done?.said ? html`<p class="quiet">${done.said}</p>` : null}</div>
      ${page.apply.length
        ? html`<p class="quiet small">${
            page.built
              ? html`Environment <b>${page.built}</b> has the new tables. They serve when a person promotes it:`
              : html`An environment has the new tables until a person promotes it. Without one, <a href=${link(["changes"])}>Changes</a> shows the plan${written ? null : " of the written files"}, and a person applies it:`
          }</p>
            <${Commands} lines=${page.apply} />`
        : html`<p class="quiet small">An action alone: no flow uses it yet.</p>`}
    </div>
  </section>`;
}

const Commands = ({ lines }) => html`<figure class="code"><${Copy} text=${lines.join("\n")} /><pre tabindex="0" aria-label="Commands">${lines.join("\n")}</pre></figure>`;
