// A wish in plain words: how it was read, as chips that can be changed, and what it would make.
import { post, useData } from "../api.js";
import { Chips } from "../chips.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { Ago, Chip, Clock, Empty, Table, Trouble, Waiting } from "../parts.js";
import { go, link } from "../route.js";
import { count, plural } from "../words.js";
import { Proposed } from "./proposed.js";

const STATUS = { proposed: "info", question: "warn", refused: "bad" };
const BECAME = { asked: "calm", revised: "calm", failed: "bad", written: "info", built: "info", applied: "ok" };

export default function Ask({ of: id, about }) {
  const [given, setGiven] = useState(null); // the last answer, shown until it was read again
  const read = useData(id ? `api/proposals/${encodeURIComponent(id)}` : null);
  const page = id ? read.data ?? (given?.proposal.id === id ? given : null) : null;
  const [problem, setProblem] = useState(null);
  const [since, setSince] = useState(null);
  const running = useRef(null);
  const { data: progress } = useData(since !== null && id ? `api/proposals/${encodeURIComponent(id)}/progress` : null, 1000);
  const history = useData(about?.may_ask ? "api/proposals" : null, 15_000);
  useEffect(() => setProblem(null), [id]);
  useEffect(() => () => running.current?.abort(), []);
  if (about && !about.may_ask) return html`<${Heading} /><div class="trouble">${about.person} may look at flows here, and not ask for new ones.</div>`;

  /** One call, whose answer is a proposal; while it runs nothing else can be asked. */
  const send = async (path, body) => {
    if (running.current) return;
    const control = new AbortController();
    running.current = control;
    setSince(Date.now());
    try {
      const found = await post(path, body, { signal: control.signal });
      setGiven(found);
      setProblem(null);
      if (found.proposal.id !== id) go(["ask", found.proposal.id]);
      history.reload();
    } catch (refused) {
      if (refused.name !== "AbortError") setProblem(refused);
    }
    running.current = null;
    setSince(null);
  };
  const at = page && `api/proposals/${page.proposal.id}`;
  const corrected = id && history.data?.some((one) => one.became === "revised" && one.detail === id && one.wish === page?.proposal.wish);
  const again = () => (read.reload(), history.reload());
  return html`<${Heading} />
    <${Wish} key=${page?.proposal.id ?? ""} wish=${page?.proposal.wish ?? ""} busy=${since !== null} onAsk=${(wish) => send("api/ask", { wish })} />
    ${since !== null ? html`<p aria-busy="true"><button type="button" class="small" onClick=${() => running.current?.abort()}>Stop</button> <${Clock} since=${since} text=${progress?.said || "planning"} /></p>` : null}
    <div aria-live="polite">${problem ? html`<${Trouble} problem=${problem} />` : null}</div>
    ${id && !page ? html`<${Waiting} problem=${read.problem} />` : null}
    ${page
      ? html`<${Read} page=${page} corrected=${corrected} busy=${since !== null} onEdit=${(edits) => send(`${at}/revise`, { edits })} onAnswer=${(phrase, choice) => send(`${at}/answer`, { answers: { [phrase]: choice } })} />
          ${page.proposal.status === "proposed" ? html`<${Proposed} key=${page.proposal.id} page=${page} about=${about} busy=${since !== null} onTry=${() => send(`${at}/try`, {})} onDone=${again} />` : null}`
      : null}
    <${History} proposals=${history} open=${!id} now=${id} />`;
}

const Heading = () => html`<div class="title"><h1>Ask</h1><p class="quiet">a wish in plain words becomes files to review; nothing that serves changes from here</p></div>`;

function Wish({ wish, busy, onAsk }) {
  const [text, setText] = useState(wish);
  const ask = () => text.trim() && onAsk(text.trim());
  const key = (event) => {
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      ask();
    }
  };
  return html`<form class="asking card" onSubmit=${(e) => (e.preventDefault(), ask())}>
    <textarea class="wish" rows="2" aria-label="Wish" placeholder="revenue per store and hour, only baskets over 50 dollars" value=${text} onInput=${(e) => setText(e.target.value)} onKeyDown=${key}></textarea>
    <div class="decide"><button class="primary" disabled=${busy || !text.trim()}>Ask <kbd>Enter</kbd></button></div>
  </form>`;
}

/** How a wish was read. */
function Read({ page, corrected, busy, onEdit, onAnswer }) {
  const p = page.proposal;
  return html`<section class="read" aria-label="How the wish was read">
    ${p.sentence ? html`<p class="asks">${p.sentence}</p>` : null}
    ${corrected ? html`<p class="quiet small">Parts of it were changed since; asked again, the words alone count.</p>` : null}
    ${page.chips.length ? html`<${Chips} key=${p.id} chips=${page.chips} busy=${busy} onEdit=${onEdit} />` : null}
    ${p.questions.map((q, i) => html`<${Question} key=${i} question=${q} busy=${busy} onAnswer=${onAnswer} />`)}
    ${p.refusal ? html`<div class="trouble" role="alert"><strong>Not possible</strong><div>${p.refusal}</div></div>` : null}
    ${p.readings.length ? html`<details open=${p.status !== "proposed"}><summary>What each phrase became (${p.readings.length})</summary><${Table} label="Phrases" rows=${p.readings} columns=${[{ name: "phrase", of: (r) => r.phrase }, { name: "became", wide: true, of: (r) => r.became }]} /></details>` : null}
    ${p.usage ? html`<p class="quiet small">Asked ${p.usage.model}: ${plural(p.usage.tries, "request")}, ${count(p.usage.input_tokens)} tokens in, ${count(p.usage.output_tokens)} out${p.planner === "model" ? "" : "; it was read offline all the same"}.</p>` : null}
    ${p.assumptions.length ? html`<div><h3>Assumed</h3><ul class="plain">${p.assumptions.map((a) => html`<li key=${a}>${a}</li>`)}</ul></div>` : null}
  </section>`;
}

function Question({ question: q, busy, onAnswer }) {
  const [other, setOther] = useState("");
  return html`<article class="card question" aria-label="Question">
    <p class="asks">${q.text}</p>
    <form class="decide" onSubmit=${(e) => (e.preventDefault(), other.trim() && onAnswer(q.phrase, other.trim()))}>
      ${q.choices.map((choice) => html`<button type="button" key=${choice} disabled=${busy} onClick=${() => onAnswer(q.phrase, choice)}>${choice}</button>`)}
      <label>${q.choices.length ? "or" : "answer"} <input type="text" value=${other} onInput=${(e) => setOther(e.target.value)} /></label>
      <button disabled=${busy || !other.trim()}>Answer</button>
    </form>
    <p class="quiet small">${q.phrase ? `The answer takes the place of “${q.phrase}” in the wish.` : "The answer is put behind the wish."}</p>
  </article>`;
}

function History({ proposals, open, now }) {
  if (!proposals.data) return open ? html`<${Waiting} problem=${proposals.problem} />` : null;
  const list = html`<${Table} label="Proposals" rows=${proposals.data} key=${(p) => p.id} columns=${[
    { name: "wish", wide: true, of: (p) => html`<a href=${link(["ask", p.id])} aria-current=${p.id === now ? "true" : undefined}>${p.wish || p.id}</a>${p.sentence ? html`<div class="quiet small">${p.sentence}</div>` : null}` },
    { name: "status", of: (p) => html`<${Chip} kind=${STATUS[p.status]}>${p.status}<//>` },
    { name: "became", of: (p) => html`<${Chip} kind=${BECAME[p.became]}>${p.became}<//> ${p.became === "revised" ? html`<a class="small" href=${link(["ask", p.detail])}>into ${p.detail}</a>` : html`<span class="quiet small">${p.detail}</span>`}` },
    { name: "table", of: (p) => p.table || null },
    { name: "last", of: (p) => html`<${Ago} at=${p.at} />` },
  ]} />`;
  if (!proposals.data.length) return open ? html`<${Empty}>Nothing was asked for yet.<//>` : null;
  return open
    ? html`<section aria-labelledby="history"><h2 id="history">Asked before</h2><div class="card">${list}</div></section>`
    : html`<details class="section"><summary>${plural(proposals.data.length, "proposal")} so far</summary><div class="card">${list}</div></details>`;
}
