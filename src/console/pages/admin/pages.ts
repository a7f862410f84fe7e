import type { PageEntry } from "../../app/page-entry.ts";

export const adminPages: readonly PageEntry[] = [
  { path: "/admin/tenants", load: () => import("./tenants.tsx"), name: "Tenants" },
  { path: "/admin/tenants/$slug", load: () => import("./tenant.tsx"), name: "TenantPage" },
  { path: "/admin/nodes", load: () => import("./nodes.tsx"), name: "Nodes" },
  { path: "/admin/dead-letters", load: () => import("./dead-letters.tsx"), name: "DeadLetters" },
  { path: "/admin/dead-letters/$id", load: () => import("./dead-letter.tsx"), name: "DeadLetterPage" },
  { path: "/admin/doctor", load: () => import("./doctor.tsx"), name: "Doctor" },
  { path: "/admin/incidents", load: () => import("./incidents.tsx"), name: "Incidents" },
  { path: "/admin/models", load: () => import("./models.tsx"), name: "Models" },
  { path: "/admin/limits", load: () => import("./overrides.tsx"), name: "Overrides" },
];
