/** The text without one code fence around all of it; without such a fence, the text as it is. */
export function withoutFence(text: string): string {
  const fenced = text.trim();
  const lineEnd = fenced.indexOf("\n");
  const isFenced = fenced.startsWith("```") && fenced.endsWith("```") && lineEnd > 0 && lineEnd < fenced.length - 3;
  if (!isFenced || fenced.slice(3, lineEnd).includes("`")) return text;
  return fenced.slice(lineEnd + 1, -3).replace(/\n$/, "");
}
