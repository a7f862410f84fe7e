/** What pages of the documentation do in a browser; all of it can be read without. */
import { addCopyButtons } from "./copy.ts";
import { followOutline } from "./outline.ts";
import { addRowFilters } from "./rows.ts";
import { openSearchBy } from "./search.ts";
import { applyTheme, isDark, switchTheme } from "./theme.ts";

addCopyButtons();
followOutline();
addRowFilters();
openSearchBy(document.querySelector<HTMLButtonElement>(".bar .find"));

const theme = document.querySelector<HTMLButtonElement>(".bar .theme");
const nameTheme = () => theme?.setAttribute("aria-label", isDark() ? "Show in light" : "Show in dark");
nameTheme();
theme?.addEventListener("click", () => {
  switchTheme();
  nameTheme();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  applyTheme();
  nameTheme();
});
// Another tab, or the console, changed it.
addEventListener("storage", () => {
  applyTheme();
  nameTheme();
});

const menu = document.querySelector<HTMLButtonElement>(".bar .menu");
const navigation = document.querySelector<HTMLElement>("#navigation");
function showMenu(isShown: boolean): void {
  menu?.setAttribute("aria-expanded", String(isShown));
  document.documentElement.classList.toggle("with-menu", isShown);
}
if (navigation === null) menu?.remove();
menu?.addEventListener("click", () => {
  const isShown = menu.getAttribute("aria-expanded") !== "true";
  showMenu(isShown);
  const first = navigation?.querySelector<HTMLElement>("[aria-current=page]") ?? navigation?.querySelector("summary");
  if (isShown) first?.focus();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || menu?.getAttribute("aria-expanded") !== "true") return;
  showMenu(false);
  menu.focus();
});

// The page that is read stands in sight of the navigation, without moving the text.
const current = navigation?.querySelector<HTMLElement>("[aria-current=page]");
if (navigation && current && current.offsetTop > navigation.clientHeight * 0.8) {
  navigation.scrollTop = current.offsetTop - navigation.clientHeight / 2;
}
