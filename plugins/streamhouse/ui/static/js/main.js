// The shell: navigation, keys, search, theme; and which page is shown.
import { useData, useReachable } from "./api.js";
import { Fragment, html, render, useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { Help, Palette } from "./palette.js";
import { Toasts, Trouble } from "./parts.js";
import { Flows } from "./pages/flows.js";
import { go, link, useRoute } from "./route.js";

const PAGES = [
  { path: "flows", name: "Flows", key: "f" },
  { path: "ask", name: "Ask", key: "w" },
  { path: "changes", name: "Changes", key: "c" },
  { path: "actions", name: "Actions", key: "a" },
  { path: "quarantine", name: "Quarantine", key: "u" },
  { path: "query", name: "Query", key: "q" },
];
const LATER = {
  flow: () => import("./pages/flow.js"),
  tables: () => import("./pages/table.js"),
  ask: () => import("./pages/ask.js"),
  changes: () => import("./pages/changes.js"),
  actions: () => import("./pages/actions.js"),
  quarantine: () => import("./pages/quarantine.js"),
  query: () => import("./pages/query.js"),
};

/** A page that is loaded when it is first looked at. */
function Later({ name, ...rest }) {
  const [page, set] = useState(null);
  useEffect(() => {
    let over = false;
    LATER[name]().then((module) => !over && set(() => module.default));
    return () => {
      over = true;
    };
  }, [name]);
  return page ? html`<${page} ...${rest} />` : html`<p class="quiet" aria-busy="true">Loading…</p>`;
}

function Page({ route, about }) {
  const [first = "flows", second] = route.parts;
  if (first === "flows" && !second) return html`<${Flows} about=${about} query=${route.query} />`;
  const name = first === "flows" ? "flow" : first;
  if (!(name in LATER)) return html`<h1>There is no such page</h1><p><a href="#/flows">To the flows</a></p>`;
  return html`<${Later} key=${name} name=${name} of=${second} query=${route.query} about=${about} />`;
}

function Shell() {
  const route = useRoute();
  const { data: about, problem } = useData("api/project", 15_000);
  const { data: flows } = useData("api/flows", 2000);
  const reachable = useReachable();
  const [open, setOpen] = useState(null); // "search", "help"
  const main = useRef(null);
  const where = route.parts[0] ?? "flows";
  const waiting = (flows ?? []).reduce((n, flow) => n + flow.questions, 0);
  useKeys(setOpen);
  useEffect(() => {
    const named = route.parts[1] ?? PAGES.find((p) => p.path === where)?.name ?? "Flows";
    document.title = `${named} · ${about?.name ?? "Streamhouse"}`;
  }, [route, about?.name]);
  const seen = useRef(null);
  useEffect(() => {
    const place = route.parts.join("/");
    if (seen.current !== null && seen.current !== place) {
      main.current?.focus({ preventScroll: true });
      main.current?.scrollTo(0, 0);
    }
    seen.current = place;
  }, [route]);
  return html`<${Fragment}>
    <a class="skip" href="#main" onClick=${(e) => (e.preventDefault(), main.current.focus())}>Skip to the content</a>
    <div class="shell">
      <header>
        <a class="brand" href="#/flows"><img src="static/icon.svg" alt="" width="22" height="22" /><span>Streamhouse<small title=${about?.root}>${about?.name ?? ""}</small></span></a>
        <nav aria-label="Pages">
          ${PAGES.map(
            (page) => html`<a key=${page.path} href=${link([page.path])} aria-current=${where === page.path || (where === "tables" && page.path === "flows") ? "page" : undefined} aria-keyshortcuts="g ${page.key}" title="g ${page.key}">
              ${page.name}${page.path === "changes" && waiting ? html`<span class="count" aria-label="${waiting} waiting">${waiting}</span>` : null}
            </a>`,
          )}
        </nav>
        <div class="tools">
          <button type="button" class="find" onClick=${() => setOpen("search")} aria-keyshortcuts="/"><span>Search</span> <kbd>/</kbd></button>
          ${window.streamhouseTheme.follows ? null : html`<button type="button" class="icon" onClick=${() => window.streamhouseTheme.toggle()} aria-label="Light or dark" title="Light or dark (t)"><${Sun} /></button>`}
          <button type="button" class="icon" onClick=${() => setOpen("help")} aria-label="Keys" title="Keys (?)">?</button>
        </div>
      </header>
      <main id="main" tabindex="-1" ref=${main}>
        ${reachable ? null : html`<div class="trouble" role="alert">The server does not answer. You see its last answer. The page asks again by itself.</div>`}
        ${problem && reachable ? html`<${Trouble} problem=${problem} />` : null}
        ${about?.broken.length ? html`<${Trouble} title="Files that cannot be read; what runs goes on" problem=${{ errors: about.broken }} />` : null}
        <${Page} route=${route} about=${about} />
      </main>
    </div>
    <${Toasts} />
    ${open === "search" ? html`<${Palette} onClose=${() => setOpen(null)} />` : null}
    ${open === "help" ? html`<${Help} pages=${PAGES} onClose=${() => setOpen(null)} />` : null}
  <//>`;
}

const Sun = () => html`<svg viewBox="0 0 24 24" width="16" height="16" aria-hidden="true"><circle cx="12" cy="12" r="9" fill="none" stroke="currentColor" stroke-width="2" /><path d="M12 3a9 9 0 0 1 0 18z" fill="currentColor" /></svg>`;

function useKeys(setOpen) {
  useLayoutEffect(() => { // before the page is seen: no key comes first
    let after = "";
    let timer;
    const pressed = (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
      if (event.target.closest("input, textarea, select, [contenteditable]")) return;
      const page = after === "g" && PAGES.find((p) => p.key === event.key);
      after = "";
      if (page) go([page.path]);
      else if (event.key === "g") {
        after = "g";
        clearTimeout(timer);
        timer = setTimeout(() => (after = ""), 1200);
        return;
      } else if (event.key === "/") setOpen("search");
      else if (event.key === "?") setOpen("help");
      else if (event.key === "t" && !window.streamhouseTheme.follows) window.streamhouseTheme.toggle();
      else return;
      event.preventDefault();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, []);
}

// The token of the address has become a cookie; it need not stay in the history.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash);
const app = document.getElementById("app");
app.replaceChildren();
render(html`<${Shell} />`, app);
