/** Where a vendor is reached, and whether that is near. */

export type VendorType = "openai" | "openai-compatible" | "anthropic" | "google" | "ollama";

const vendorEndpoints: Readonly<Record<VendorType, { readonly address: string | null; readonly version: string }>> = {
  openai: { address: "https://api.openai.com", version: "/v1" },
  "openai-compatible": { address: null, version: "/v1" },
  anthropic: { address: "https://api.anthropic.com", version: "/v1" },
  google: { address: "https://generativelanguage.googleapis.com", version: "/v1beta" },
  ollama: { address: "http://127.0.0.1:11434", version: "/v1" },
};

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
