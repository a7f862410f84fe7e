import type { PageEntry } from "../../app/page-entry.ts";

export const toolPages: readonly PageEntry[] = [];
