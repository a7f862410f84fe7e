/** Light, dark or as the system has it; what the reader chose is kept in this browser. */
export type Theme = "system" | "light" | "dark";

const key = "svc.theme";

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(key);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  applyTheme();
}

/** Puts the choice on the document. */
export function applyTheme(): void {
  const theme = chosenTheme();
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
