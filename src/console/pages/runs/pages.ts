import type { PageEntry } from "../../app/page-entry.ts";

export const runPages: readonly PageEntry[] = [
  { path: "/runs", load: () => import("./list.tsx"), name: "Runs" },
  { path: "/runs/$id", load: () => import("./run.tsx"), name: "RunPage" },
];
