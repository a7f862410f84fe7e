import type { PageEntry } from "../../app/page-entry.ts";

export const approvalPages: readonly PageEntry[] = [
  { path: "/approvals", load: () => import("./approvals.tsx"), name: "Approvals" },
  { path: "/approvals/$id", load: () => import("./approvals.tsx"), name: "Approvals" },
];
