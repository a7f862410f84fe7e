/** `svc tools`. */
import type { Command } from "commander";
import { addGroup } from "../../frame/verb.ts";
import { addCall } from "./call.ts";
import { addCalls } from "./calls.ts";
import { addAccept, addServers } from "./servers.ts";
import { addShow } from "./show.ts";

export function tools(group: Command): void {
  addShow(group);
  addCall(group);
  addCalls(addGroup(group, "calls", "Look at the calls that were made"));
  addAccept(group);
  addServers(addGroup(group, "servers", "Look after servers of tools"));
}
