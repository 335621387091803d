// Light or dark, before anything is drawn. Inside Airflow: as Airflow has it; alone: as chosen here, else as the system.
(() => {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const KEY = "streamhouse-theme";

  function host() {
    try {
      return parent !== window ? parent.document.documentElement : null;
    } catch {
      return null; // framed by another site's page: its theme is not ours to see
    }
  }

  function stored() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null;
    }
  }

  const around = host();
  const hostIsDark = () => around.classList.contains("dark") || around.dataset.theme === "dark";
  const wanted = () => (around ? (hostIsDark() ? "dark" : "light") : stored() ?? (system.matches ? "dark" : "light"));
  const apply = () => {
    root.dataset.theme = wanted();
    if (around) root.dataset.framed = "";
  };

  apply();
  system.addEventListener("change", apply);
  if (around) new MutationObserver(apply).observe(around, { attributes: true, attributeFilter: ["class", "data-theme"] });

  window.streamhouseTheme = {
    follows: Boolean(around),
    toggle() {
      const next = root.dataset.theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, next);
      } catch {
        // not kept, then
      }
      root.dataset.theme = next;
    },
  };
})();
