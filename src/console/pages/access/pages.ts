import type { PageEntry } from "../../app/page-entry.ts";

export const accessPages: readonly PageEntry[] = [];
