import type { PageEntry } from "../../app/page-entry.ts";

export const contextPages: readonly PageEntry[] = [
  { path: "/security-contexts", load: () => import("./contexts.tsx"), name: "Contexts" },
  // A context may be named `new`.
  {
    path: "/security-contexts/-/new",
    load: () => import("./new-context.tsx"),
    name: "NewContext",
    form: { title: "New security context", scope: "security_context:write" },
  },
  { path: "/security-contexts/$name", load: () => import("./context.tsx"), name: "ContextPage" },
];
