/** The vendors: where each is reached, how it is sent the key, and whether an address is private. */

interface VendorEndpoint {
  /** Null where the configuration has to name it. */
  readonly address: string | null;
  readonly version: string;
  /** Header in which the SDK sends the key; left out of requests without a key. */
  readonly keyHeader: "authorization" | "x-api-key" | "x-goog-api-key";
}

/** A vendor's entry here is what the configuration may name as a provider's `type`. */
const vendorEndpoints = {
  openai: { address: "https://api.openai.com", version: "/v1", keyHeader: "authorization" },
  "openai-compatible": { address: null, version: "/v1", keyHeader: "authorization" },
  anthropic: { address: "https://api.anthropic.com", version: "/v1", keyHeader: "x-api-key" },
  google: {
    address: "https://generativelanguage.googleapis.com",
    version: "/v1beta",
    keyHeader: "x-goog-api-key",
  },
  ollama: { address: "http://127.0.0.1:11434", version: "/v1", keyHeader: "authorization" },
} as const satisfies Readonly<Record<string, VendorEndpoint>>;

export type VendorType = keyof typeof vendorEndpoints;

export const vendorTypes = Object.keys(vendorEndpoints) as readonly VendorType[];

/** Lower-case name of the header that carries the key. */
export const keyHeaderOf = (type: VendorType): string => vendorEndpoints[type].keyHeader;

/** The address with its version segment; a path of the operator's own is taken as it is. Null when it was reported. */
export function endpointOf(
  type: VendorType,
  given: string | undefined,
  report: (path: string, message: string) => void,
): string | null {
  const { address, version } = vendorEndpoints[type];
  const wanted = given ?? address;
  if (wanted === null) {
    report("endpoint", `required for ${type}`);
    return null;
  }
  const url = URL.parse(wanted);
  if (!url || !/^https?:$/.test(url.protocol)) {
    report("endpoint", "must be an http or https address");
    return null;
  }
  if (url.username || url.password || url.search || url.hash) {
    report("endpoint", "must hold neither credentials nor a query");
    return null;
  }
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path === "" ? version : path);
}

/** Whether an address is on this machine or in a private network, as far as its name tells. */
export function isPrivateEndpoint(endpoint: string): boolean {
  const host = new URL(endpoint).hostname.replace(/^\[|\]$/g, "").toLowerCase();
  if (host.includes(":")) return host === "::1" || /^f[cd]|^fe[89ab]/.test(host);
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    return /^(127|10)\.|^192\.168\.|^169\.254\.|^172\.(1[6-9]|2\d|3[01])\./.test(host);
  }
  return !host.includes(".") || /\.(localhost|local|internal|lan)$/.test(host);
}
