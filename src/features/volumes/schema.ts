/** The wire shapes of volumes. */
import { type Static, Type } from "@sinclair/typebox";
import { Nullable, Time } from "../../../actors/kernel/schema.ts";
import { pagingQuery } from "../../http/paging.ts";
import { CHAT_ATTACHMENTS } from "./chat-label.ts";

const uuid = "[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}";

export const VolumeId = Type.Object({ id: Type.String({ pattern: `^(${uuid}|${CHAT_ATTACHMENTS})$` }) });

export const VolumeBody = Type.Object({
  id: Type.String(),
  label: Type.String(),
  name: Type.String(),
  status: Type.Union([Type.Literal("available"), Type.Literal("attached")]),
  visibility: Type.Union([Type.Literal("private"), Type.Literal("tenant")]),
  size_limit_bytes: Type.Integer(),
  used_bytes: Type.Integer(),
  file_count: Type.Integer(),
  tenant_id: Type.String(),
  owner_user_id: Nullable(Type.String()),
  created_at: Time,
  updated_at: Time,
});
export type VolumeBody = Static<typeof VolumeBody>;

/** Printable characters, no `/`. */
const Label = Type.String({ minLength: 1, maxLength: 128, pattern: "^[^/\\u0000-\\u001f\\u007f-\\u009f]+$" });
const Visibility = Type.Union([Type.Literal("private"), Type.Literal("tenant")]);
const SizeLimit = Type.Integer({ minimum: 1 });

export const CreateBody = Type.Object(
  {
    label: Label,
    size_limit_bytes: Type.Optional(SizeLimit),
    visibility: Type.Optional(Visibility),
  },
  { examples: [{ label: "reports", size_limit_bytes: 104_857_600, visibility: "private" }] },
);
export const ChangeBody = Type.Partial(
  Type.Object({ label: Label, size_limit_bytes: SizeLimit, visibility: Visibility }),
  { examples: [{ label: "old reports" }] },
);
export type ChangeBody = Static<typeof ChangeBody>;

export const ListQuery = Type.Object({ ...pagingQuery, label: Type.Optional(Type.String({ maxLength: 128 })) });

export const QuotaBody = Type.Object({
  quota_bytes: Type.Integer(),
  total_storage_bytes: Type.Integer(),
  used_bytes: Type.Integer(),
  total_bytes_used: Type.Integer(),
  volume_count: Type.Integer(),
  volume_limit: Type.Integer(),
  max_volumes: Type.Integer(),
  max_file_size_bytes: Type.Integer(),
  tier: Type.String(),
});

const Path = Type.String({ maxLength: 8192 });
export const PathQuery = Type.Object({ path: Path });
export const FilesQuery = Type.Object({ ...pagingQuery, path: Type.String({ maxLength: 8192, default: "/" }) });
export const StatQuery = Type.Object({ path: Type.String({ maxLength: 8192, default: "/" }) });
export const UploadQuery = Type.Object({ path: Type.Optional(Path) });
export const UploadHeaders = Type.Object({
  "X-Filename": Type.Optional(
    Type.String({
      maxLength: 1024,
      description: "Of bytes that are no form: the file's name, percent-encoded; where `path` names none",
    }),
  ),
});
export const FileBytes = Type.String({ format: "binary" });
export const UploadForm = Type.Object({
  file: FileBytes,
  path: Type.Optional(Type.String({ maxLength: 8192, description: "Where the query names none" })),
});
export const MkdirBody = Type.Object({ path: Type.Optional(Path) }, { examples: [{ path: "/2031/may" }] });
export const MoveBody = Type.Object(
  {
    from: Type.Optional(Path),
    source: Type.Optional(Path),
    to: Type.Optional(Path),
    destination: Type.Optional(Path),
    overwrite: Type.Boolean({ default: false }),
  },
  { examples: [{ from: "/draft.md", to: "/report.md", overwrite: true }] },
);
export type MoveBody = Static<typeof MoveBody>;

export const Uploaded = Type.Object({
  volume_id: Type.String(),
  path: Type.String(),
  name: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer(),
  size_bytes: Type.Integer(),
  sha256: Type.String(),
  uploaded_at: Time,
});
export type Uploaded = Static<typeof Uploaded>;

/** By the names that the API document gives them. */
export const named = {
  Volume: VolumeBody,
  NewVolume: CreateBody,
  VolumeChange: ChangeBody,
  StorageQuota: QuotaBody,
  MakeDirectory: MkdirBody,
  MoveFile: MoveBody,
  FileUploaded: Uploaded,
};
