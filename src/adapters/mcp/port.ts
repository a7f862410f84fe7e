/** What the rest of the service may use of tool servers outside. */
export { type CallEnd, type CallOptions, connectServer, type McpConnection } from "./connection.ts";
export { httpTransport } from "./http/transport.ts";
export { type Child, type ChildSpec, childFolder, launchChild, removeChildFolders } from "./stdio/child.ts";
