import type { PageEntry } from "../../app/page-entry.ts";

export const runPages: readonly PageEntry[] = [];
