/** Most bytes one `fs.*` call reads, writes or edits. */
export const maxFileBytes = 10 * 1024 * 1024;
/** Most matches of `fs.grep` and `fs.glob`. */
export const maxMatches = 1000;
