/** Before the page is drawn: the theme that the reader chose, and that scripts run. */
import { applyTheme } from "./theme.ts";

document.documentElement.classList.add("scripted");
applyTheme();
