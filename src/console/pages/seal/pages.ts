import type { PageEntry } from "../../app/page-entry.ts";

export const sealPages: readonly PageEntry[] = [
  { path: "/seal-sessions", load: () => import("./sessions.tsx"), name: "Sessions" },
  { path: "/seal-sessions/$id", load: () => import("./session.tsx"), name: "SessionPage" },
];
