/** Executions and commands that wrote more than they may. */
import type { Room } from "../../../actors/policy/storage-room.ts";
import { derivedUuid } from "../../lib/digest.ts";
import type { Violation } from "./service.ts";

/**
 * The violation of an instance that was ended for it. Told again, by another node, it is the same.
 * @param executionId of an execution or of a workflow's run
 * @param room the bound of volumes that it passed; `no_room`: what it left did not fit when it was put away; null: its own disk
 * @param diskBytes bound of that
 */
export function writtenTooMuch(
  tenant: string,
  executionId: string,
  instanceId: string,
  room: Pick<Room, "quota" | "limit" | "volumeId"> | "no_room" | null,
  diskBytes: number,
): Violation {
  const { quota, limit, volumeId } = boundOf(room, diskBytes);
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

function boundOf(room: Parameters<typeof writtenTooMuch>[3], diskBytes: number) {
  if (room === null) return { quota: "disk", limit: diskBytes, volumeId: null };
  // One of several bounds on volumes that are written back together.
  if (room === "no_room") return { quota: "storage", limit: null, volumeId: null };
  return room;
}
