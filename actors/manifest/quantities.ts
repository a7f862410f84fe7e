/** Durations, byte quantities and processor shares as manifests spell them. Unreadable is null, never "no limit". */

const secondsPer: Readonly<Record<string, number>> = { d: 86_400, h: 3600, m: 60, s: 1 };

/** Milliseconds of `300`, `"300"`, `"300s"`, `"5m"`, `"1h30m"`, `"7d"`; null when unreadable. */
export function readDuration(value: unknown): number | null {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? safe(value * 1000) : null;
  if (typeof value !== "string") return null;
  if (/^\d{1,15}$/.test(value)) return safe(Number(value) * 1000);
  const match = /^(?:(\d{1,9})d)?(?:(\d{1,9})h)?(?:(\d{1,9})m)?(?:(\d{1,9})s)?$/.exec(value);
  if (match === null || value === "") return null;
  const [, d, h, m, s] = match;
  const seconds = Object.entries({ d, h, m, s }).reduce(
    (sum, [unit, digits]) => sum + Number(digits ?? 0) * (secondsPer[unit] ?? 0),
    0,
  );
  return safe(seconds * 1000);
}

const bytesPer: Readonly<Record<string, number>> = {
  "": 1,
  K: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
};

/** Bytes of `1048576`, `"512Mi"`, `"1.5G"`; null when unreadable. */
export function readBytes(value: unknown): number | null {
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? safe(value) : null;
  if (typeof value !== "string") return null;
  const match = /^(\d{1,15}(?:\.\d{1,6})?)(Ki|Mi|Gi|Ti|K|M|G|T|)$/.exec(value);
  if (match === null) return null;
  return safe(Math.round(Number(match[1]) * (bytesPer[match[2] ?? ""] ?? 1)));
}

/** Thousandths of a processor: `500` and `"500m"` are half of one, `1.5` is one and a half; null when unreadable. */
export function readMillicores(value: unknown): number | null {
  if (typeof value === "number") {
    if (!Number.isFinite(value) || value < 0) return null;
    return safe(Number.isInteger(value) ? value : Math.round(value * 1000));
  }
  if (typeof value !== "string") return null;
  const millicores = /^(\d{1,9})m?$/.exec(value);
  if (millicores !== null) return Number(millicores[1]);
  return /^\d{1,6}\.\d{1,6}$/.test(value) ? Math.round(Number(value) * 1000) : null;
}

function safe(value: number): number | null {
  return Number.isSafeInteger(value) ? value : null;
}
