import type { PageEntry } from "../../app/page-entry.ts";

export const executionPages: readonly PageEntry[] = [];
