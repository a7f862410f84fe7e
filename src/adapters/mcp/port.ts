/** What the rest of the service may use of tool servers outside. */
export {
  type CallEnd,
  type CallOptions,
  type ConnectOptions,
  connectServer,
  type McpConnection,
} from "./connection.ts";
export { type HttpOptions, httpTransport } from "./http/transport.ts";
export {
  type Child,
  type ChildOptions,
  type ChildSpec,
  childFolder,
  launchChild,
  removeChildFolders,
} from "./stdio/child.ts";
