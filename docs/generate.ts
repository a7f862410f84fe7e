/** The generated pages of the reference, and the pictures: `npm run docs` writes them, a test fails while one is stale. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { builtInToolsPage } from "./generate/built-in-tools.ts";
import { commandLinePage } from "./generate/command-line.ts";
import { eventsPage } from "./generate/events.ts";
import { managementToolsPage } from "./generate/management-tools.ts";
import { agentManifestPage, workflowManifestPage } from "./generate/manifests.ts";
import { pictures } from "./generate/pictures/draw.ts";
import { codesRegion, routesPage } from "./generate/routes.ts";
import { scopesPage } from "./generate/scopes.ts";
import { settingsPage } from "./generate/settings.ts";
import { withRegion } from "./generate/tables.ts";

/** Path of a page below `docs/` → its text. */
export const generatedPages: Readonly<Record<string, string>> = {
  ...pictures(),
  "reference/agent-manifest.md": agentManifestPage(),
  "reference/built-in-tools.md": await builtInToolsPage(),
  "reference/cli.md": await commandLinePage(),
  // The meanings are written by hand.
  "reference/errors.md": withRegion(readFileSync(join(import.meta.dir, "reference/errors.md"), "utf8"), codesRegion()),
  "reference/events.md": eventsPage(),
  "reference/management-tools.md": managementToolsPage(),
  "reference/routes.md": routesPage(),
  "reference/scopes.md": scopesPage(),
  "reference/settings.md": settingsPage(),
  "reference/workflow-manifest.md": workflowManifestPage(),
};

if (import.meta.main) {
  for (const [path, text] of Object.entries(generatedPages)) await Bun.write(join(import.meta.dir, path), text);
}
