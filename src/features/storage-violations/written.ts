/** Executions and commands that wrote more than they may. */
import type { Room } from "../../../actors/policy/storage-room.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { Violation } from "./service.ts";

/**
 * The violation of an instance that was ended for it. Told again, by another node, it is the same.
 * @param executionId of an execution or of a workflow's run
 * @param room the bound of volumes that it passed; null: its own disk
 * @param diskBytes bound of that
 */
export function writtenTooMuch(
  tenant: string,
  executionId: string,
  instanceId: string,
  room: Pick<Room, "quota" | "limit" | "volumeId"> | null,
  diskBytes: number,
): Violation {
  const { quota, limit, volumeId } = room ?? { quota: "disk", limit: diskBytes, volumeId: null };
  return {
    id: derivedUuid(`disk exceeded ${instanceId}`),
    category: "quota_exceeded",
    tenant,
    by: null,
    volumeId: volumeId === executionId ? null : volumeId,
    executionId,
    path: null,
    operation: "execution.write",
    details: { quota, limit },
  };
}
