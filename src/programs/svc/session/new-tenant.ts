/**
 * A machine's first write to a tenant that does not exist makes it, also where its name was mistyped. No answer tells so:
 * those who may look at tenants are told by a look before and after.
 */

type Reach = (request: Request) => Promise<Response>;

interface Typed {
  readonly url: string;
  /** What stands behind `--tenant`. */
  readonly slug: string;
  /** Called once, after a write that made the tenant. */
  readonly tell: () => void;
}

const reading = new Set(["GET", "HEAD", "OPTIONS"]);

/** @returns `reach`, which tells of a new tenant */
export function tellingNewTenant({ url, slug, tell }: Typed, reach: Reach): Reach {
  const isMissing = async (authorization: string | null): Promise<boolean> => {
    try {
      const headers = authorization === null ? {} : { Authorization: authorization };
      const response = await reach(new Request(`${url}/v1/admin/tenants/${encodeURIComponent(slug)}`, { headers }));
      const { code } = (await response.json()) as { readonly code?: unknown };
      return response.status === 404 && code === "tenant_not_found";
    } catch {
      // The write itself says what is wrong.
      return false;
    }
  };
  let before: Promise<boolean> | null = null;
  let isTold = false;
  return async (request) => {
    if (reading.has(request.method)) return reach(request);
    const caller = request.headers.get("Authorization");
    before ??= isMissing(caller);
    const wasMissing = await before;
    const response = await reach(request);
    if (!wasMissing || !response.ok || isTold || (await isMissing(caller))) return response;
    isTold = true;
    tell();
    return response;
  };
}
