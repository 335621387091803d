// SQL and YAML with their words in colour.
import hljs from "../vendor/highlight.js";
import sql from "../vendor/sql.js";
import yaml from "../vendor/yaml.js";
import { html, useMemo } from "./html.js";
import { Copy } from "./parts.js";

hljs.registerLanguage("sql", sql);
hljs.registerLanguage("yaml", yaml);

export function Code({ text, language, label }) {
  // highlight.js escapes the text; nothing of it is taken as markup.
  const marked = useMemo(() => ({ __html: hljs.highlight(text, { language }).value }), [text, language]);
  return html`<figure class="code"><${Copy} text=${text} /><pre tabindex="0" aria-label=${label}><code dangerouslySetInnerHTML=${marked}></code></pre></figure>`;
}
