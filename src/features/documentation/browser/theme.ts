/** Light, dark, or as the system has it: the choice is this browser's, and the console's too. */

const key = "svc.theme";

export const isDark = (): boolean => {
  const { theme } = document.documentElement.dataset;
  return theme === "dark" || (theme === undefined && matchMedia("(prefers-color-scheme: dark)").matches);
};

/** Puts what was chosen on the document. */
export function applyTheme(): void {
  const chosen = localStorage.getItem(key);
  const root = document.documentElement;
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  else delete root.dataset.theme;
  // The reference of the API has its dark colours below this class.
  root.classList.toggle("dark-mode", isDark());
}

/** The other one of what is shown now; what the system has is not kept as a choice. */
export function switchTheme(): void {
  const next = isDark() ? "light" : "dark";
  const ofSystem = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  if (next === ofSystem) localStorage.removeItem(key);
  else localStorage.setItem(key, next);
  applyTheme();
}
