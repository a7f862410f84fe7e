/** Text that stands in a page. */

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** For an element's text and for a value in double quotes. */
export const escaped = (text: string): string => text.replace(/[&<>"]/g, (character) => entities[character] ?? "");
