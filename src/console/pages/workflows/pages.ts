import type { PageEntry } from "../../app/page-entry.ts";

export const workflowPages: readonly PageEntry[] = [
  { path: "/workflows", load: () => import("./list.tsx"), name: "Workflows" },
  {
    path: "/workflows/new",
    load: () => import("./edit.tsx"),
    name: "NewWorkflow",
    form: { title: "New workflow", scope: "workflow:deploy" },
  },
  { path: "/workflows/$ref", load: () => import("./workflow.tsx"), name: "WorkflowPage" },
];
