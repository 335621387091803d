// What is wrong with how a page reads: faint text, controls without a name, ids twice. Returns sentences.
() => {
  const found = new Set();
  const parse = (css) => {
    const parts = css.match(/[\d.]+%?/g)?.map((n) => (n.endsWith("%") ? parseFloat(n) / 100 : Number(n))) ?? [0, 0, 0, 0];
    return css.startsWith("color(") ? [...parts.slice(0, 3).map((n) => n * 255), parts[3] ?? 1] : [...parts.slice(0, 3), parts[3] ?? 1];
  };
  const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
  const light = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((c) => ((c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const ground = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parse(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const seen = (element) => element.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) && element.getClientRects().length && !element.closest(".visually-hidden, .skip, .faded, :disabled");
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.data.trim();
    if (!text || !seen(element) || element.closest("script, style, noscript")) continue;
    const style = getComputedStyle(element);
    const below = ground(element);
    const [a, b] = [light(over(parse(style.color), below)), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.6 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) found.add(`faint: '${text.slice(0, 40)}' ${ratio.toFixed(2)} in .${element.className}`);
  }
  for (const control of document.querySelectorAll("a, button, input, select, textarea, [role=tab], [role=region], summary")) {
    if (!seen(control)) continue;
    const name = control.getAttribute("aria-label") || control.textContent.trim() || control.labels?.[0]?.textContent.trim();
    if (!name) found.add(`no name: ${control.outerHTML.slice(0, 80)}`);
    if (control.matches("button, a.button") && control.getClientRects()[0].height < 22) found.add(`too small: ${control.outerHTML.slice(0, 80)}`);
  }
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => found.add(`twice: #${id}`));
  for (const [selector, least] of [["main", 1], ["nav[aria-label]", 1], ["header", 1], ["h1", 1]]) {
    if (document.querySelectorAll(selector).length !== least) found.add(`there is not one ${selector}`);
  }
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide > 0) found.add(`the page is ${wide} px wider than the window`);
  return [...found];
}
