import type { PageEntry } from "../../app/page-entry.ts";

export const accountPages: readonly PageEntry[] = [];
