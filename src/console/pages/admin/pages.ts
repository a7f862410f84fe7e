import type { PageEntry } from "../../app/page-entry.ts";

export const adminPages: readonly PageEntry[] = [
  { path: "/admin/tenants", load: () => import("./tenants.tsx"), name: "Tenants" },
  { path: "/admin/tenants/$slug", load: () => import("./tenant.tsx"), name: "TenantPage" },
  { path: "/admin/nodes", load: () => import("./nodes.tsx"), name: "Nodes" },
  { path: "/admin/incidents", load: () => import("./incidents.tsx"), name: "Incidents" },
  { path: "/admin/models", load: () => import("./models.tsx"), name: "Models" },
  { path: "/admin/limits", load: () => import("./overrides.tsx"), name: "Overrides" },
];
