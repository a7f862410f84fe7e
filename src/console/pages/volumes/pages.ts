import type { PageEntry } from "../../app/page-entry.ts";

export const volumePages: readonly PageEntry[] = [];
