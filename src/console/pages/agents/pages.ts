import type { PageEntry } from "../../app/page-entry.ts";

export const agentPages: readonly PageEntry[] = [];
