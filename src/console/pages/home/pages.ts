import type { PageEntry } from "../../app/page-entry.ts";

export const homePages: readonly PageEntry[] = [{ path: "/", load: () => import("./home.tsx"), name: "Home" }];
