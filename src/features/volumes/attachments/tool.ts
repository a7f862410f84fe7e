/** The tool `svc.attachment.read`: the files that an execution was given, and no others. */
import { createHash } from "node:crypto";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Attachment } from "../../../../actors/execution/start/plan.ts";
import { toolSchema } from "../../../../actors/kernel/schema.ts";
import { ATTACHMENT_READ } from "../../../../actors/tool/catalog.ts";
import { maxFileBytes, textOf } from "../../tools/fs/port.ts";
import {
  executionRequired,
  outcomeOf,
  type RegisteredTool,
  ToolFailure,
  type ToolProvider,
  ToolRefusal,
  type ToolRequest,
} from "../../tools/port.ts";
import { CHAT_ATTACHMENTS } from "../chat-label.ts";
import type { Volumes } from "../runs/execution-volumes.ts";

const Arguments = Type.Object({
  volume_id: Type.String({ minLength: 1, maxLength: 64, description: "volume_id of the attachment" }),
  path: Type.String({ minLength: 1, maxLength: 4096, description: "path of the attachment" }),
});
type Arguments = Static<typeof Arguments>;

/** @param attachmentsOf what an execution was started with */
export function createAttachmentTool(
  { places, records }: Pick<Volumes, "places" | "records">,
  attachmentsOf: (tenant: string, executionId: string) => Promise<readonly Attachment[]>,
): ToolProvider {
  const tools: readonly RegisteredTool[] = [
    {
      name: ATTACHMENT_READ,
      aliases: [],
      description: "Read a file that was attached to the request. Binary content comes as base64.",
      inputSchema: toolSchema(Arguments),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      source: "builtin",
      executor: "server",
      runs: "service",
      readOnly: true,
      idempotent: true,
    },
  ];

  async function read({ arguments: given, tenant, executionId }: ToolRequest) {
    const wanted = checked(given);
    if (executionId === null) throw executionRequired(ATTACHMENT_READ);
    const attachment = (await attachmentsOf(tenant, executionId)).find((candidate) => names(wanted, candidate));
    if (attachment === undefined) throw notAttached(wanted.path);
    const { volume_id, path, mime_type } = attachment;
    const kept = await records.kept([volume_id]);
    if (!kept.has(volume_id)) throw new ToolFailure("not_found", `${path} does not exist any more`);
    const volume = { tenant, volume_id };
    await places.prepare(volume_id);
    const { size } = await places.look(volume, path);
    // Before it is read through for its digest.
    if (size > maxFileBytes) throw tooLarge(path);
    const file = await places.open(volume, path, null);
    try {
      if (file.size > maxFileBytes) throw tooLarge(path);
      const bytes = Buffer.from(await file.read(0, file.size));
      const text = textOf(bytes);
      return {
        content: text ?? bytes.toString("base64"),
        encoding: text === null ? "base64" : "utf-8",
        mime_type,
        size: bytes.length,
        sha256: createHash("sha256").update(bytes).digest("hex"),
      };
    } finally {
      file.close();
    }
  }

  return {
    tools: () => tools,
    call: async (request) => {
      try {
        return { status: "succeeded", result: await read(request) };
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

const tooLarge = (path: string): ToolFailure =>
  new ToolFailure("file_too_large", `${path} is larger than ${maxFileBytes} bytes`);

function checked(given: ToolRequest["arguments"]): Arguments {
  if (Value.Check(Arguments, given)) return given;
  throw new ToolFailure("invalid_arguments", `${ATTACHMENT_READ}: volume_id and path must be texts`);
}

/** The path counts as the reference has it, or from the volume's root; the literal volume as any of that path. */
function names({ volume_id, path }: Arguments, attachment: Attachment): boolean {
  const rooted = path.startsWith("/") ? path : `/${path}`;
  const sameVolume = volume_id === CHAT_ATTACHMENTS || volume_id.toLowerCase() === attachment.volume_id;
  return sameVolume && rooted === attachment.path;
}

function notAttached(path: string): ToolRefusal {
  const message = `${path} is not attached to this execution`;
  return new ToolRefusal(2002, "path_not_allowed", "path_outside_boundary", message, path);
}
