import type { PageEntry } from "../../app/page-entry.ts";

export const approvalPages: readonly PageEntry[] = [];
