import type { PageEntry } from "../../app/page-entry.ts";

export const stimulusPages: readonly PageEntry[] = [];
