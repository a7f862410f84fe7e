import type { PageEntry } from "../../app/page-entry.ts";

export const adminPages: readonly PageEntry[] = [];
