// What waits for a person, what the files would change, what was changed, and what changed upstream.
import { post, useData } from "../api.js";
import { html, useState } from "../html.js";
import { Ago, Chip, Empty, Outcome, Table, Trouble, Waiting, toast } from "../parts.js";
import { link } from "../route.js";
import { plural } from "../words.js";

const PHASES = { asked: "info", building: "info", waiting: "warn", applied: "ok", failed: "bad", withdrawn: "calm" };
const STATUS = { waiting: "warn", seen: "info", applied: "ok", failed: "bad", refused: "bad", noted: "calm", outdated: "calm" };
const ANSWERS = { open: "warn", granted: "ok", refused: "bad", expired: "calm" };

export default function Changes({ about }) {
  const approvals = useData("api/approvals", 3000);
  const journal = useData("api/changes", 3000);
  const plan = useData("api/plan", 5000);
  const events = useData("api/events", 5000);
  const open = approvals.data?.filter((q) => q.state === "open" || q.failed) ?? [];
  const decided = approvals.data?.filter((q) => q.state !== "open" && !q.failed) ?? [];
  const ready = journal.data?.filter((c) => c.waits) ?? [];
  const again = () => [approvals, journal, plan, events].forEach((one) => one.reload());
  return html`<div class="title"><h1>Changes</h1></div>
    <section aria-labelledby="waiting"><h2 id="waiting">Waiting for a person</h2>
      ${approvals.data && journal.data
        ? html`${open.map((q) => html`<${Question} key=${q.id} question=${q} about=${about} onDone=${again} />`)}
            ${ready.map((c) => html`<${Ready} key=${c.id} change=${c} about=${about} onDone=${again} />`)}
            ${open.length + ready.length ? null : html`<${Empty}>Nothing waits for a decision.<//>`}`
        : html`<${Waiting} problem=${approvals.problem ?? journal.problem} />`}
    </section>
    <section aria-labelledby="plan"><h2 id="plan">Plan <span class="quiet small">the files against what is applied; <code>streamhouse apply</code> carries it out</span></h2>
      ${plan.problem ? html`<${Trouble} title="The files cannot be compiled; what runs goes on" problem=${plan.problem} />` : plan.data ? html`${plan.data.unreadable.length ? html`<${Trouble} title="Applied plans that cannot be read; their flows are not compared" problem=${{ errors: plan.data.unreadable }} />` : null}${plan.data.flows.map((f) => html`<${FlowPlan} key=${f.flow} change=${f} />`)}` : html`<${Waiting} />`}
    </section>
    <section aria-labelledby="journal"><h2 id="journal">Changes that were asked for</h2>
      ${journal.data?.length ? html`<${Journal} changes=${journal.data} />` : html`<${Empty}>Nothing was changed yet.<//>`}
    </section>
    <section aria-labelledby="upstream"><h2 id="upstream">Changes upstream</h2>
      ${events.data?.length ? html`<${Upstream} events=${events.data} />` : html`<${Empty}>Nothing changed upstream; to look now: <code>streamhouse trigger --once</code><//>`}
    </section>
    ${decided.length ? html`<details class="section"><summary>Decided before (${decided.length})</summary><${Decided} questions=${decided} /></details>` : null}`;
}

function Question({ question: q, about, onDone }) {
  const [reason, setReason] = useState("");
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const decide = async (answer) => {
    setBusy(true);
    try {
      const done = await post(`api/approvals/${q.id}/${answer}`, { reason: reason.trim() || null });
      toast(`${done.state}: ${done.asks}`, done.state === "granted" ? "ok" : "bad");
      setProblem(null);
      onDone();
    } catch (found) {
      setProblem(found);
    }
    setBusy(false);
  };
  return html`<article class="card question" aria-label="Question ${q.id}">
    <p><a href=${link(["flows", q.flow])}><b>${q.flow}</b></a> <span class="quiet">asks</span> <code class="quiet">${q.id}</code> <span class="quiet small">asked <${Ago} at=${q.asked_at} />, expires <${Ago} at=${q.expires_at} /></span></p>
    <p class="asks">${q.asks}</p>
    ${q.failed ? html`<p class="bad">${q.failed}</p>` : null}
    <pre class="evidence" tabindex="0" aria-label="Evidence">${q.evidence}</pre>
    <${Proposals} proposals=${q.proposals} />
    ${problem ? html`<${Trouble} problem=${problem} />` : null}
    <div class="decide">
      <label>Reason <input type="text" value=${reason} placeholder="kept with the decision" onInput=${(e) => setReason(e.target.value)} disabled=${!about?.may_decide} /></label>
      ${q.failed ? null : html`<button type="button" class="good" disabled=${busy || !about?.may_decide} onClick=${() => decide("approve")}>Approve</button>`}
      <button type="button" class="danger" disabled=${busy || !about?.may_decide} onClick=${() => decide("refuse")}>Refuse</button>
    </div>
    <p class="quiet small">${about && !about.may_decide ? `${about.person} may look, and not decide.` : "Approved, it is carried out at the trigger's next look; refused, the flow goes on as if nothing had changed."}</p>
  </article>`;
}

function Ready({ change: c, about, onDone }) {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState(null);
  const act = async (answer) => {
    setBusy(true);
    try {
      const done = await post(`api/changes/${c.id}/${answer}`, {});
      toast(answer === "swap" ? `change ${done.id} serves when its runner ends an epoch` : `change ${done.id} was given up`);
      setProblem(null);
      onDone();
    } catch (found) {
      setProblem(found);
    }
    setBusy(false);
  };
  return html`<article class="card question" aria-label="Change ${c.id}">
    <p><a href=${link(["flows", c.flow])}><b>${c.flow}</b></a>: change ${c.id} rebuilt ${c.tables.join(", ")} and waits for a person to let it serve. <${Outcome} outcome=${c.outcome} /></p>
    ${c.error ? html`<pre class="error">${c.error}</pre>` : null}
    ${c.checks.length ? html`<${Checks} checks=${c.checks} />` : null}
    <${Proposals} proposals=${c.proposals} />
    ${problem ? html`<${Trouble} problem=${problem} />` : null}
    <div class="decide"><button type="button" class="good" disabled=${busy || !about?.may_decide} onClick=${() => act("swap")}>Let it serve</button>
      <button type="button" class="danger" disabled=${busy || !about?.may_decide} onClick=${() => act("withdraw")}>Give it up</button></div>
  </article>`;
}

const Proposals = ({ proposals }) => proposals.map((p) => html`<details open key=${p.id}><summary>Proposal <a href=${link(["ask", p.id])}>${p.id}</a>: ${p.sentence}</summary>
  <pre class="evidence" tabindex="0" aria-label="Proposal ${p.id}">${p.text}</pre></details>`);

const Checks = ({ checks }) => html`<${Table} label="Audit" rows=${checks} columns=${[
  { name: "audit", of: (c) => html`<${Chip} kind=${{ pass: "ok", passed: "ok", fail: "bad", failed: "bad", warn: "warn" }[c.verdict] ?? "calm"}>${c.verdict}<//>` },
  { name: "table", of: (c) => c.table },
  { name: "check", of: (c) => c.name },
  { name: "found", wide: true, of: (c) => c.text },
]} />`;

/** What a plan changes, finding by finding; `title`: another one than how it differs from what is applied. */
export function FlowPlan({ change: f, title }) {
  const told = title ?? (f.revision === null ? "never applied; a run creates it" : f.changes ? `differs from revision ${f.revision}` : f.text_only ? `nothing to do (revision ${f.revision}); only text differs` : `as applied (revision ${f.revision})`);
  const rows = [
    ...f.diff.steps.flatMap((s) => s.findings.map((x) => ({ ...x, change: s.change, step: s.step, columns: x.rows ? ["all"] : x.columns }))),
    ...f.diff.settings.map((x) => ({ ...x, change: "setting", step: f.flow })),
  ];
  const readers = [...new Map(f.diff.steps.flatMap((s) => s.consumers.filter((c) => c.flow !== f.flow)).map((c) => [`${c.flow} ${c.step}`, c])).values()];
  const work = f.diff.tables.flatMap((t) => t.tiers.map((tier) => ({ ...tier, table: t.table })));
  const head = html`<p class="head"><a href=${link(["flows", f.flow])}><b>${f.flow}</b></a> <${Outcome} outcome=${f.outcome} /> <span class="quiet">${told}</span></p>`;
  if (f.revision === null || !rows.length) return html`<div class="card plan">${head}</div>`;
  return html`<div class="card plan">${head}
    <${Table} label="Findings in ${f.flow}" rows=${rows} columns=${[
      { name: "outcome", of: (x) => html`<${Outcome} outcome=${x.outcome} />` },
      { name: "rule", right: true, of: (x) => x.rule || null },
      { name: "change", of: (x) => x.change },
      { name: "step", of: (x) => html`<a href=${link(["tables", x.step.split(":")[0]])}>${x.step}</a>` },
      { name: "columns", of: (x) => x.columns.join(", ") || null },
      { name: "why", wide: true, of: (x) => x.proof },
    ]} />
    ${readers.length ? html`<details open><summary>${plural(readers.length, "step")} of other flows read what changes</summary><${Table} label="Readers" rows=${readers} columns=${[
      { name: "outcome", of: (x) => html`<${Outcome} outcome=${x.outcome} />` }, { name: "flow", of: (x) => x.flow }, { name: "step", of: (x) => x.step },
      { name: "columns", of: (x) => (x.rows ? "all" : x.columns.join(", ") || null) }, { name: "why", wide: true, of: (x) => x.proof },
    ]} /></details>` : null}
    ${work.length ? html`<details><summary>What is done to ${plural(work.length, "stored table")}</summary><${Table} label="Work" rows=${work} columns=${[
      { name: "outcome", of: (x) => html`<${Outcome} outcome=${x.outcome} />` }, { name: "table", of: (x) => x.table }, { name: "tier", of: (x) => x.tier }, { name: "what", wide: true, of: (x) => x.ddl.map(ddl).join("; ") || null },
    ]} /></details>` : null}
    ${f.diff.versions.map((v) => html`<p class="small" key=${v.action}>version of <b>${v.action}</b>: ${v.was} → ${v.now}; at least ${v.least}, for ${v.why}</p>`)}
    ${f.blocks ? html`<p class="small">A person must choose: <code>streamhouse apply ${f.flow} --choose TABLE=forward|rebuild</code></p>` : null}
  </div>`;
}
const ddl = (x) => [x.kind, x.column, x.type, x.old && ["widen column", "add field", "rename column"].includes(x.kind) ? `from ${x.old}` : ""].filter(Boolean).join(" ");

const Journal = ({ changes }) => html`<${Table} label="Journal of changes" rows=${changes} key=${(c) => c.id} columns=${[
  { name: "id", right: true, of: (c) => c.id },
  { name: "flow", of: (c) => c.flow },
  { name: "phase", of: (c) => html`<${Chip} kind=${PHASES[c.phase]}>${c.phase}<//>` },
  { name: "outcome", of: (c) => html`<${Outcome} outcome=${c.outcome} />` },
  { name: "rebuilt", of: (c) => c.tables.join(", ") || null },
  { name: "environment", of: (c) => c.environment },
  { name: "asked", of: (c) => html`<${Ago} at=${c.asked_at} /> <span class="quiet small">by ${c.asked_by}</span>` },
  { name: "error", wide: true, of: (c) => c.error },
]} />`;

const Upstream = ({ events }) => html`<${Table} label="Changes upstream" rows=${events} key=${(e) => `${e.id} ${e.flow}`} columns=${[
  { name: "status", of: (e) => html`<${Chip} kind=${STATUS[e.status]}>${e.status}<//>` },
  { name: "flow", of: (e) => e.flow },
  { name: "since", of: (e) => html`<${Ago} at=${e.since} />` },
  { name: "change", wide: true, of: (e) => html`${e.change}${e.verdicts.length ? html`<details><summary class="small">${plural(e.verdicts.length, "step")}</summary><ul class="plain small">${e.verdicts.map((v, i) => html`<li key=${i}><${Outcome} outcome=${v.outcome} /> ${v.step}: ${v.policy} (${v.said}), ${v.values}${v.pauses ? "; stands still" : ""}</li>`)}</ul></details>` : null}` },
  { name: "why", wide: true, of: (e) => e.note },
]} />`;

const Decided = ({ questions }) => html`<${Table} label="Decided questions" rows=${questions} key=${(q) => q.id} columns=${[
  { name: "id", of: (q) => html`<code>${q.id}</code>` },
  { name: "flow", of: (q) => q.flow },
  { name: "answer", of: (q) => html`<${Chip} kind=${ANSWERS[q.state]}>${q.state}<//>` },
  { name: "by", of: (q) => q.decided_by },
  { name: "when", of: (q) => (q.decided_at ? html`<${Ago} at=${q.decided_at} />` : null) },
  { name: "asked", wide: true, of: (q) => q.asks },
  { name: "reason", wide: true, of: (q) => q.reason },
]} />`;
