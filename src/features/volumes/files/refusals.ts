/** What the routes of volumes refuse for the sake of volumes is recorded, after the refusal and never in its way. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type Call, isUuid, type Route } from "../../../http/route.ts";
import type { StorageViolations, Violation } from "../../storage-violations/port.ts";
import { CHAT_ATTACHMENTS } from "../chat-label.ts";
import { PathRefused } from "../paths.ts";
import { ownerOf, type VolumeRecords, visibilityOf } from "../records.ts";

export interface RefusalOptions {
  readonly records: Pick<VolumeRecords, "readable" | "byLabel" | "isHidden">;
  readonly recordViolation: StorageViolations["recordViolation"];
}

/** The same routes; what a volume's bounds refuse leaves a violation. */
export function recordingRefusals(routes: readonly Route[], options: RefusalOptions): readonly Route[] {
  return routes.map((route) => ({
    ...route,
    handle: async (call) => {
      try {
        return await route.handle(call);
      } catch (error) {
        if (error instanceof Problem) {
          const violation = violationOf(error, route, call, options.records);
          if (violation !== null) options.recordViolation(violation);
        }
        throw error;
      }
    },
  }));
}

function violationOf(
  problem: Problem,
  route: Pick<Route, "method" | "path">,
  { identity, tenant, params, query }: Call,
  records: RefusalOptions["records"],
): Violation | null {
  const named = textOf(params, "id");
  const asked = named === null || named === CHAT_ATTACHMENTS ? named : named.toLowerCase();
  const of: Omit<Violation, "category"> = {
    tenant,
    by: `${identity.realm}/${identity.userId}`,
    volumeId: null,
    executionId: null,
    path: textOf(query, "path"),
    operation: operationOf(route),
    ...(asked === null ? {} : { asked }),
    details: { user_id: identity.userId },
  };
  /** The volume, where the caller sees it; none is made. */
  const seen = async () => {
    if (asked === null) return { volumeId: null };
    if (asked === CHAT_ATTACHMENTS) {
      const own = await records.byLabel(tenant, ownerOf(identity, tenant), CHAT_ATTACHMENTS);
      return { volumeId: own?.volume_id ?? null };
    }
    const [row] = await records.readable(tenant, [asked], visibilityOf(identity, tenant));
    return { volumeId: row?.volume_id ?? null };
  };
  if (problem instanceof PathRefused) {
    const { violation: category, attempted } = problem;
    return { ...of, category, path: attempted, settle: seen };
  }
  if (problem.code === "quota_exceeded") {
    const { quota = null, limit = null } = problem.extras;
    const which = {
      ...(typeof quota === "string" ? { quota } : {}),
      ...(typeof limit === "number" ? { limit } : {}),
    };
    return { ...of, category: "quota_exceeded", details: { ...of.details, ...which }, settle: seen };
  }
  if (problem.code === "volume_not_found" && asked !== null && isUuid(asked)) {
    const settle = async () => ((await records.isHidden(tenant, asked)) ? { volumeId: null } : null);
    return { ...of, category: "unauthorized_volume_access", settle };
  }
  return null;
}

/** Members are checked by the route's schemas; here only texts among them are of use. */
function textOf(members: unknown, name: string): string | null {
  const value = (members as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof value === "string" ? value : null;
}

const verbs: Readonly<Record<string, string>> = { GET: "read", POST: "create", PATCH: "change", DELETE: "delete" };

/** `volume.change`, `files.upload`, … */
function operationOf({ method, path }: Pick<Route, "method" | "path">): string {
  const [, inFiles] = path.split("/files");
  const verb = verbs[method] ?? method.toLowerCase();
  if (inFiles === undefined) return `volume.${verb}`;
  if (inFiles !== "") return `files.${inFiles.slice(1)}`;
  return method === "GET" ? "files.list" : `files.${verb}`;
}
