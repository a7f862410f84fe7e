import type { PageEntry } from "../../app/page-entry.ts";

export const agentPages: readonly PageEntry[] = [
  { path: "/agents", load: () => import("./list.tsx"), name: "Agents" },
  {
    path: "/agents/new",
    load: () => import("./new.tsx"),
    name: "NewAgent",
    form: { title: "New agent", scope: "agent:deploy" },
  },
  { path: "/agents/$id", load: () => import("./agent.tsx"), name: "Agent" },
];
