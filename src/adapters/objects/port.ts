/** The port to a store of objects that speaks S3's protocol. */
export { ObjectsUnavailable } from "./failure.ts";
export { type ObjectStore, openObjects } from "./objects.ts";
export { type ObjectSettings, objectContradictions, objectSettings } from "./settings.ts";
export type { ObjectUpload } from "./upload.ts";
