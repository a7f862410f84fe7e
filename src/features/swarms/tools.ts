/** Tools of a swarm: what its executions hold alone, and what they send each other. */
import { Type } from "@sinclair/typebox";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import { isOver } from "../../../actors/execution/state.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Executions } from "../executions/port.ts";
import { defineTool, type ManagementTool, type ToolCaller } from "../management-tools/port.ts";
import { ToolFailure } from "../tools/port.ts";
import { type LockRow, maxInbox, type SwarmKey, type SwarmRecords } from "./records.ts";

export interface SwarmToolOptions {
  readonly records: SwarmRecords;
  readonly executions: Pick<Executions, "find">;
  /** Whether an execution has started another one. */
  readonly hasChildren: (tenant: string, executionId: string) => Promise<boolean>;
  readonly isDissolved: (tenant: string, swarmId: string) => Promise<boolean>;
}

const maxPayloadBytes = 16 * 1024;
/** Between two looks for messages, ms. */
const lookEveryMs = 500;
const Resource = { resource_id: Type.String({ minLength: 1, maxLength: 256 }) };

/** A caller in its swarm. */
interface Member extends SwarmKey {
  readonly executionId: string;
}

export function swarmTools(options: SwarmToolOptions): readonly ManagementTool[] {
  const { records } = options;
  return [
    defineTool({
      name: "svc.swarm.lock",
      effect: "repeatable",
      description: "Hold a resource alone in the swarm until it is unlocked or its time is over; again to prolong it",
      scope: "agent:execute",
      arguments: Type.Object({
        ...Resource,
        ttl_seconds: Type.Integer({ minimum: 1, maximum: 3600, default: 60 }),
      }),
      call: async (caller, { resource_id: resource, ttl_seconds: seconds }) => {
        const member = await memberOf(options, caller);
        const { executionId } = member;
        const take = () => records.lock(member, resource, executionId, seconds, null);
        const first = (await take()) ?? ((await records.dropExpired(member)) > 0 ? await take() : null);
        if (first === null) throw new ToolFailure("too_many_locks", "The swarm holds as many locks as it may");
        if (first.held_by === executionId || !(await hasEnded(options, member, first.held_by))) {
          return shownLock(first, executionId);
        }
        const second = (await records.lock(member, resource, executionId, seconds, first.held_by)) ?? first;
        return shownLock(second, executionId);
      },
    }),
    defineTool({
      name: "svc.swarm.unlock",
      effect: "repeatable",
      description: "Let go of a resource that the caller holds in the swarm",
      scope: "agent:execute",
      arguments: Type.Object(Resource),
      call: async (caller, { resource_id }) => {
        const member = await memberOf(options, caller);
        return { resource_id, released: await records.unlock(member, resource_id, member.executionId) };
      },
    }),
    defineTool({
      name: "svc.swarm.send",
      effect: "repeatable",
      description: "Send a message to another execution of the swarm",
      scope: "agent:execute",
      arguments: Type.Object({
        to: Type.String({ format: "uuid", description: "The execution, a member or the founder" }),
        payload: AnyJson,
      }),
      call: async (caller, given) => {
        const member = await memberOf(options, caller);
        const to = given.to.toLowerCase();
        const payload = JSON.stringify(given.payload);
        if (Buffer.byteLength(payload) > maxPayloadBytes) {
          const issue = { path: "payload", message: `has more than ${maxPayloadBytes} bytes as JSON`, code: "invalid" };
          throw new ToolFailure("invalid_arguments", "The arguments do not fit the tool", { issues: [issue] });
        }
        const receiver = await stateOf(options, member.tenant, to);
        if (receiver === null || receiver.header.hierarchy.swarm_id !== member.swarmId) {
          throw new ToolFailure("not_in_swarm", "The receiver is not of this swarm");
        }
        if (isOver(receiver)) throw new ToolFailure("execution_not_running", "The receiver has ended");
        const message = { id: caller.workId, from: member.executionId, to, payload };
        if (!(await records.send(member, message))) {
          throw new ToolFailure("mailbox_full", `${maxInbox} messages wait for that receiver`);
        }
        return { message_id: caller.workId, to, payload_bytes: Buffer.byteLength(payload) };
      },
    }),
    defineTool({
      name: "svc.swarm.receive",
      effect: "repeatable",
      description: "Take the messages that wait for the caller, in the order in which they were sent; each comes once",
      scope: "agent:execute",
      arguments: Type.Object({
        limit: Type.Integer({ minimum: 1, maximum: 100, default: 10 }),
        wait_seconds: Type.Integer({ minimum: 0, maximum: 25, default: 0 }),
      }),
      call: async (caller, { limit, wait_seconds }) => {
        const member = await memberOf(options, caller);
        const until = performance.now() + wait_seconds * 1000;
        for (;;) {
          const rows = await records.receive(member, member.executionId, caller.workId, limit);
          const left = until - performance.now();
          if (rows.length === 0 && left > 0) {
            await Bun.sleep(Math.min(lookEveryMs, left));
            caller.signal.throwIfAborted();
            continue;
          }
          const messages = rows.map(({ id, sender, payload, sent_at }) => ({
            message_id: id,
            from: sender,
            payload,
            sent_at: sent_at.toISOString(),
          }));
          return { messages, count: messages.length };
        }
      },
    }),
  ];
}

/** @throws ToolFailure `not_in_swarm` for a session, an execution of no swarm, a founder without members, a dissolved swarm */
async function memberOf(options: SwarmToolOptions, { tenant, executionId }: ToolCaller): Promise<Member> {
  const state = executionId === null ? null : await stateOf(options, tenant, executionId);
  const swarmId = state?.header.hierarchy.swarm_id ?? null;
  const isFounder = swarmId === executionId;
  if (executionId === null || state === null || swarmId === null || isOver(state)) throw notInSwarm();
  if (isFounder && !(await options.hasChildren(tenant, executionId))) throw notInSwarm();
  if (await options.isDissolved(tenant, swarmId)) throw notInSwarm();
  return { tenant, swarmId, executionId };
}

const notInSwarm = () => new ToolFailure("not_in_swarm", "The caller is no execution of a running swarm");

async function stateOf({ executions }: SwarmToolOptions, tenant: string, id: string): Promise<ExecutionState | null> {
  try {
    return (await executions.find(tenant, id)).state;
  } catch (error) {
    if (error instanceof Problem && error.code === "execution_not_found") return null;
    throw error;
  }
}

/** A lock ends with its holder. */
async function hasEnded(options: SwarmToolOptions, { tenant }: Member, holder: string): Promise<boolean> {
  const state = await stateOf(options, tenant, holder);
  return state === null || isOver(state);
}

const shownLock = ({ resource_id, held_by, acquired_at, expires_at }: LockRow, executionId: string) => ({
  resource_id,
  acquired: held_by === executionId,
  held_by,
  acquired_at: acquired_at.toISOString(),
  expires_at: expires_at.toISOString(),
});
