/** What the rest of the service may use of model providers. Nothing else in this folder is imported from outside. */
export {
  type ModelCall,
  ModelError,
  type ModelMessage,
  type ModelReply,
  type Models,
  type ProviderProbe,
} from "./call.ts";
export { defaultKeySecrets } from "./defaults.ts";
export { type NodeModels, openModels } from "./open.ts";
export { modelSettings } from "./settings.ts";
