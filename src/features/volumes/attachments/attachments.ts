/** Attachments of a start: files in volumes that the caller may read. */
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Attachment } from "../../../../actors/execution/start/plan.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { type Issue, invalid, Problem } from "../../../../actors/kernel/problem.ts";
import { Nullable } from "../../../../actors/kernel/schema.ts";
import { shapeIssues } from "../../../../actors/kernel/shape-issues.ts";
import { isStorable } from "../../../../actors/manifest/storable.ts";
import { isUuid } from "../../../http/route.ts";
import { ToolFailure, ToolRefusal } from "../../tools/port.ts";
import { CHAT_ATTACHMENTS } from "../chat-label.ts";
import { readPath } from "../paths.ts";
import type { Entry, Places, VolumeAt } from "../places/port.ts";
import { ownerOf, type VolumeReader } from "../records.ts";
import type { Volumes } from "../runs/execution-volumes.ts";

const maxAttachments = 32;

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength });
const Reference = Type.Object({
  /** A UUID, or `chat-attachments`. */
  volume_id: Text(64),
  path: Text(4096),
  name: Text(1024),
  mime_type: Text(255),
  size: Type.Integer({ minimum: 0 }),
  sha256: Type.Optional(Nullable(Type.String({ pattern: "^[0-9a-fA-F]{64}$" }))),
});
type Reference = Static<typeof Reference>;

/**
 * Checks the files that a start names.
 * @returns what the input is folded with and the plan keeps, in order; empty for none
 * @throws Problem 422 `invalid_attachment` with `issues` of code `invalid`, `attachment_not_found` or
 *   `attachment_changed` at `attachments.<n>…`
 */
export async function checkFiles(
  volumes: Pick<Volumes, "records" | "places" | "readable">,
  tenant: string,
  reader: VolumeReader,
  refs: readonly Json[],
): Promise<Attachment[]> {
  if (refs.length > maxAttachments) {
    throw refused([{ path: "attachments", message: `at most ${maxAttachments}`, code: "invalid" }]);
  }
  const findings = await Promise.all(refs.map((ref, index) => check(volumes, tenant, reader, ref, index)));
  const issues = findings.flatMap((finding) => (Array.isArray(finding) ? finding : []));
  if (issues.length > 0) throw refused(issues);
  return findings.filter((finding): finding is Attachment => !Array.isArray(finding));
}

const refused = (issues: readonly Issue[]): Problem =>
  invalid("invalid_attachment", "The attachments cannot be used", issues);

async function check(
  volumes: Pick<Volumes, "records" | "places" | "readable">,
  tenant: string,
  reader: VolumeReader,
  ref: Json,
  index: number,
): Promise<Attachment | Issue[]> {
  const at = `attachments.${index}`;
  if (!Value.Check(Reference, ref)) {
    const issues = shapeIssues(Value.Errors(Reference, ref), 10);
    return issues.map((issue) => ({ ...issue, path: issue.path === "" ? at : `${at}.${issue.path}` }));
  }
  const reference: Reference = ref;
  const fault = faultOf(reference, at);
  if (fault !== null) return [fault];
  const missing = [{ path: at, message: "there is no such file in a volume of yours", code: "attachment_not_found" }];
  const row = await findVolume(volumes, tenant, reader, reference.volume_id);
  if (row === null) return missing;
  const { places } = volumes;
  const volume = { tenant, volume_id: row.volume_id };
  const path = readPath(reference.path);
  try {
    await places.prepare(row.volume_id);
    const entry = await places.look(volume, path);
    if (entry.directory) return missing;
    if (entry.size !== reference.size) {
      return [{ path: `${at}.size`, message: `the file has ${entry.size} bytes`, code: "attachment_changed" }];
    }
    const wanted = reference.sha256?.toLowerCase();
    if (wanted !== undefined && (await digestOf(places, volume, entry)) !== wanted) {
      return [{ path: `${at}.sha256`, message: "the file has another content", code: "attachment_changed" }];
    }
    const { name, mime_type, size } = reference;
    return {
      volume_id: row.volume_id,
      path: entry.path,
      name,
      mime_type,
      size,
      ...(wanted === undefined ? {} : { sha256: wanted }),
    };
  } catch (error) {
    if (error instanceof ToolFailure || error instanceof ToolRefusal || error instanceof Problem) return missing;
    throw error;
  }
}

async function digestOf(places: Places, volume: VolumeAt, { path, content }: Entry): Promise<string> {
  if (content !== null) return content.sha256;
  const file = await places.open(volume, path, null);
  file.close();
  return file.content.sha256;
}

function faultOf({ volume_id, path, name, mime_type }: Reference, at: string): Issue | null {
  if (volume_id !== CHAT_ATTACHMENTS && !isUuid(volume_id)) {
    return { path: `${at}.volume_id`, message: `must be a UUID or ${CHAT_ATTACHMENTS}`, code: "invalid" };
  }
  if (![name, mime_type].every(isStorable)) {
    return { path: at, message: "contains a NUL character or broken Unicode", code: "invalid" };
  }
  try {
    readPath(path);
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { path: `${at}.path`, message: error.message, code: "invalid" };
  }
}

async function findVolume(
  volumes: Pick<Volumes, "records" | "readable">,
  tenant: string,
  reader: VolumeReader,
  volumeId: string,
): Promise<{ readonly volume_id: string } | null> {
  if (volumeId === CHAT_ATTACHMENTS) {
    return reader === null ? null : volumes.records.byLabel(tenant, ownerOf(reader, tenant), CHAT_ATTACHMENTS);
  }
  const id = volumeId.toLowerCase();
  return (await volumes.readable(tenant, reader, [id])).has(id) ? { volume_id: id } : null;
}
