import type { PageEntry } from "../../app/page-entry.ts";

export const executionPages: readonly PageEntry[] = [
  { path: "/executions", load: () => import("./list.tsx"), name: "Executions" },
  { path: "/executions/$id", load: () => import("./detail.tsx"), name: "Execution" },
];
