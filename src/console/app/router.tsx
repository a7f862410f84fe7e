/** Which address shows which page. Pages are loaded when they are first opened. */
import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { accessPages } from "../pages/access/pages.ts";
import { accountPages } from "../pages/account/pages.ts";
import { adminPages } from "../pages/admin/pages.ts";
import { agentPages } from "../pages/agents/pages.ts";
import { approvalPages } from "../pages/approvals/pages.ts";
import { contextPages } from "../pages/contexts/pages.ts";
import { executionPages } from "../pages/executions/pages.ts";
import { fleetPages } from "../pages/fleet/pages.ts";
import { homePages } from "../pages/home/pages.ts";
import { runPages } from "../pages/runs/pages.ts";
import { sealPages } from "../pages/seal/pages.ts";
import { stimulusPages } from "../pages/stimuli/pages.ts";
import { toolPages } from "../pages/tools/pages.ts";
import { volumePages } from "../pages/volumes/pages.ts";
import { workflowPages } from "../pages/workflows/pages.ts";
import { Failed } from "./failed.tsx";
import { componentOf } from "./guarded.tsx";
import { Layout } from "./layout.tsx";
import { Lost } from "./lost.tsx";
import { consolePath } from "./session/place.ts";

/** Every page takes any filter as text: what is behind `?` is the page's own. */
const texts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(search).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );

const root = createRootRoute({ component: Layout, notFoundComponent: Lost, validateSearch: texts });

const pages = [
  ...homePages,
  ...agentPages,
  ...executionPages,
  ...workflowPages,
  ...runPages,
  ...approvalPages,
  ...stimulusPages,
  ...toolPages,
  ...contextPages,
  ...sealPages,
  ...fleetPages,
  ...volumePages,
  ...accessPages,
  ...accountPages,
  ...adminPages,
].map((page) => createRoute({ getParentRoute: () => root, path: page.path, component: componentOf(page) }));

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: consolePath,
  defaultErrorComponent: Failed,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Filters are texts as they are: no JSON in addresses.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString();
    return text === "" ? "" : `?${text}`;
  },
});
