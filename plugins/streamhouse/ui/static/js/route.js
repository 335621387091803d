// Where we are: `#/flows/retail?table=dwd.sales`. Links are ordinary links, so back, reload and new tabs work.
import { useLayoutEffect, useState } from "./html.js";

export function parse(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split("?");
  return { parts: path.split("/").filter(Boolean).map(decodeURIComponent), query: Object.fromEntries(new URLSearchParams(search)) };
}

export function link(parts, query = {}) {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value != null && value !== "")).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(parts, query = {}, { replace = false } = {}) {
  const to = link(parts, query);
  if (replace) {
    history.replaceState(null, "", to);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = to;
  }
}

export function useRoute() {
  const [route, set] = useState(parse);
  useLayoutEffect(() => { // before the page is seen: no click comes first
    const changed = () => set(parse());
    addEventListener("hashchange", changed);
    return () => removeEventListener("hashchange", changed);
  }, []);
  return route;
}
