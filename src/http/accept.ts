/** Whether a reader would rather have a manifest as text than as JSON. */

/** The media types under which a manifest is sent as text. */
export const manifestTextTypes = ["application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml", "text/plain"];

/** The text type wanted more than JSON, or null: an equal wish is JSON. */
export function preferredText(accept: string | null): string | null {
  if (accept === null) return null;
  const ranges = accept.slice(0, 4096).split(",").map(readRange);
  const weight = (type: string): number => {
    const [family = ""] = type.split("/", 1);
    // The most specific range that covers the type decides.
    for (const range of [type, `${family}/*`, "*/*"]) {
      const match = ranges.find((candidate) => candidate.range === range);
      if (match !== undefined) return match.weight;
    }
    return 0;
  };
  const json = weight("application/json");
  const [best] = manifestTextTypes.toSorted((one, other) => weight(other) - weight(one));
  return best !== undefined && weight(best) > json ? best : null;
}

function readRange(text: string): { readonly range: string; readonly weight: number } {
  const [range = "", ...parameters] = text.split(";").map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1";
  return { range, weight: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(quality) ? Number(quality) : 0 };
}
