import type { PageEntry } from "../../app/page-entry.ts";

export const fleetPages: readonly PageEntry[] = [
  { path: "/fleet", load: () => import("./fleet.tsx"), name: "Fleet" },
  { path: "/fleet/hosts/$id", load: () => import("./hosts/host.tsx"), name: "HostPage" },
  { path: "/fleet/groups/$id", load: () => import("./groups/group.tsx"), name: "GroupPage" },
  {
    path: "/fleet/run",
    load: () => import("./wizard/wizard.tsx"),
    name: "Wizard",
    form: { title: "Run a command on hosts", scope: "aegis.edge.fleet.manage" },
  },
  { path: "/fleet/runs/$id", load: () => import("./runs/run.tsx"), name: "RunPage" },
];
