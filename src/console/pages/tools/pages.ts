import type { PageEntry } from "../../app/page-entry.ts";

// No tool is named `new-server`, `servers` or `calls`: names of tools have a dot.
export const toolPages: readonly PageEntry[] = [
  { path: "/tools", load: () => import("./tools.tsx"), name: "Tools" },
  {
    path: "/tools/new-server",
    load: () => import("./servers/new-server.tsx"),
    name: "NewServer",
    form: { title: "Add a server of tools", scope: "tool_server:write" },
  },
  { path: "/tools/servers/$name", load: () => import("./servers/server.tsx"), name: "ServerPage" },
  { path: "/tools/calls/$id", load: () => import("./calls/call.tsx"), name: "CallPage" },
  { path: "/tools/$name", load: () => import("./tool/tool.tsx"), name: "ToolPage" },
];
