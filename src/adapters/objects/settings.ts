/** How a store of objects is reached that speaks S3's protocol (docs/reference/volumes.md). */
import { flag, secret, text, url, type Values } from "../../config/setting.ts";

export const objectSettings = {
  s3Endpoint: url("SVC_S3_ENDPOINT", {
    meaning: "address of the S3 store; AWS of the region when unset",
    schemes: ["https", "http"],
  }),
  s3Bucket: text("SVC_S3_BUCKET", {
    meaning: "bucket that holds the files of volumes; it must exist",
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{1,254}$/,
    bounds: "2–255 of A–Z, a–z, 0–9, ., _ and -",
    default: "",
  }),
  s3Region: text("SVC_S3_REGION", {
    meaning: "region that requests to the S3 store are signed for",
    pattern: /^[A-Za-z0-9-]{1,64}$/,
    bounds: "1–64 of A–Z, a–z, 0–9 and -",
    default: "us-east-1",
  }),
  s3AccessKeyId: secret("SVC_S3_ACCESS_KEY_ID", { meaning: "access key at the S3 store" }),
  s3SecretAccessKey: secret("SVC_S3_SECRET_ACCESS_KEY", { meaning: "secret of the access key at the S3 store" }),
  s3Prefix: text("SVC_S3_PREFIX", {
    meaning: "beginning of the name of every object, for buckets that hold other things as well",
    pattern: /^(?!\.{1,2}(\/|$))[A-Za-z0-9._-]{1,64}(\/(?!\.{1,2}(\/|$))[A-Za-z0-9._-]{1,64}){0,7}$/,
    bounds: "a path without slashes at its ends",
    default: "",
  }),
  s3ForcePathStyle: flag("SVC_S3_FORCE_PATH_STYLE", {
    meaning: "name the bucket in the path instead of the host name; always so where the endpoint is an IP address",
    default: false,
  }),
};

export type ObjectSettings = Values<typeof objectSettings>;

/** What is missing for a store of objects to be used, as sentences. */
export function objectContradictions(settings: Partial<ObjectSettings>): readonly string[] {
  const { s3Bucket: bucket, s3AccessKeyId: key, s3SecretAccessKey: value } = settings;
  const found: string[] = [];
  if (bucket === "") found.push("SVC_STORAGE_BACKEND s3 needs SVC_S3_BUCKET");
  if (key === null) found.push("SVC_STORAGE_BACKEND s3 needs SVC_S3_ACCESS_KEY_ID");
  if (value === null) found.push("SVC_STORAGE_BACKEND s3 needs SVC_S3_SECRET_ACCESS_KEY");
  return found;
}
