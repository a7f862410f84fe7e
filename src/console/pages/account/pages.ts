import type { PageEntry } from "../../app/page-entry.ts";

export const accountPages: readonly PageEntry[] = [
  { path: "/billing", load: () => import("./billing.tsx"), name: "Billing" },
  { path: "/limits", load: () => import("./limits.tsx"), name: "Limits" },
  { path: "/audit", load: () => import("./audit.tsx"), name: "Audit" },
];
