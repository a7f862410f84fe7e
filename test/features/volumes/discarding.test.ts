/** The room that uploads take on a node is given back, whatever becomes of what they wrote. */
import { expect, test } from "bun:test";
import type { StorageQuota } from "../../../actors/policy/storage-quota.ts";
import { ToolFailure } from "../../../src/features/tools/port.ts";
import { upload } from "../../../src/features/volumes/files/upload.ts";
import { UploadRoom } from "../../../src/features/volumes/files/upload-room.ts";
import type { VolumeRow } from "../../../src/features/volumes/records.ts";
import type { Caller, VolumeService } from "../../../src/features/volumes/service.ts";

test("a draft that cannot be taken away keeps no room, and hides no answer", async () => {
  const quota: StorageQuota = { tier: "free", volumes: 2, userBytes: 10, fileBytes: 10, tenantBytes: 10 };
  const draft = {
    write: () => Promise.reject(new Error("the disk is gone")),
    finish: async () => {},
    discard: () => Promise.reject(new Error("the records are gone")),
  };
  const places = { look: () => Promise.reject(new ToolFailure("not_found", "none")), draft: async () => draft };
  const held = { volumes: 1, userBytes: 0, tenantBytes: 0, volumeBytes: 0 };
  // Of the service no more than what an upload asks of it until its first piece is written.
  const service = {
    places,
    quotaOf: async () => quota,
    refreshed: async (row: VolumeRow) => row,
    records: { held: async () => held },
  } as unknown as VolumeService;
  const caller = { tenant: "t", identity: { kind: "consumer", realm: "r", userId: "u" } } as unknown as Caller;
  const row = { volume_id: "v", owner_realm: "r", owner_user_id: "u", size_limit_bytes: 10 } as unknown as VolumeRow;
  const room = new UploadRoom();
  for (let round = 0; round < 3; round++) {
    const request = new Request("http://svc/", { method: "POST", body: "1234567" });
    const failed = upload(service, room, caller, row, request, "/file");
    expect(await failed.catch(String)).toBe("Error: the disk is gone");
  }
});
