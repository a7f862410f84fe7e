/** Which proxy leads to an address, by the variables that all programs read. */

type Environment = Readonly<Record<string, string | undefined>>;

/** @param url `ws:`, `wss:`, `http:` or `https:` @returns null where none does */
export function proxyFor(url: URL, environment: Environment): string | null {
  const isSecure = url.protocol === "wss:" || url.protocol === "https:";
  const names = isSecure ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const proxy = [...names, "all_proxy", "ALL_PROXY"].map((name) => environment[name]).find(Boolean);
  if (proxy === undefined || isExempt(url, environment.no_proxy ?? environment.NO_PROXY ?? "")) return null;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

/** Entries are names, which cover what lies below them, addresses, or `*`; with a port, that port alone. */
function isExempt({ hostname, port, protocol }: URL, list: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, "").toLowerCase();
  const actual = port !== "" ? port : protocol === "wss:" || protocol === "https:" ? "443" : "80";
  return list
    .split(/[\s,]+/)
    .filter(Boolean)
    .some((entry) => {
      if (entry === "*") return true;
      const [, bracketed, plain = "", wanted] = /^(?:\[([^\]]+)\]|([^:]*(?::[^:]*:.*)?))(?::(\d+))?$/.exec(entry) ?? [];
      const name = (bracketed ?? plain).toLowerCase().replace(/^\*?\./, "");
      if (wanted !== undefined && wanted !== actual) return false;
      return name !== "" && (host === name || host.endsWith(`.${name}`));
    });
}
