import type { PageEntry } from "../../app/page-entry.ts";

export const workflowPages: readonly PageEntry[] = [];
