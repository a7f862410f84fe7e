import type { PageEntry } from "../../app/page-entry.ts";

export const fleetPages: readonly PageEntry[] = [];
