/**
 * Reading the models' configuration again. The node that is asked reads its file first: only when that is valid are the
 * others told, each of which reads its own. A node that is not reached keeps what it has until it is asked again or
 * restarted.
 */
import type { Issue } from "../../../actors/kernel/problem.ts";
import type { NodeModels } from "../../adapters/models/port.ts";
import { openRedis, openSubscriber, type RedisServers, replyInTime } from "../../store/redis/connections.ts";

export interface ReloadingOptions {
  readonly models: Pick<NodeModels, "reload" | "warning" | "served">;
  readonly redisServers: RedisServers;
  readonly prefix: string;
  readonly nodeId: string;
  readonly info: (event: string, facts: Readonly<Record<string, unknown>>) => void;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export type ReloadOutcome =
  | { readonly ok: true; readonly served: ReturnType<NodeModels["served"]>; readonly othersTold: boolean }
  | { readonly ok: false; readonly issues: readonly Issue[] };

export function openReloading({ models, redisServers, prefix, nodeId, info, warn }: ReloadingOptions) {
  const commands = openRedis(redisServers);
  const subscriber = openSubscriber(redisServers);
  const channel = `${prefix}:models:reload`;

  /** @param by the node that was asked */
  async function readHere(by: string): Promise<readonly Issue[]> {
    const reloaded = await models.reload();
    if (!reloaded.ok) {
      warn("models_not_reloaded", { by, issues: reloaded.issues });
      return reloaded.issues;
    }
    const reason = models.warning();
    if (reason === null) info("models", { by, served: models.served() });
    else warn("models", { by, reason });
    return [];
  }

  subscriber.on("message", (_, by: string) => {
    if (by !== nodeId)
      void readHere(by).catch((error: unknown) => warn("models_not_reloaded", { error: String(error) }));
  });
  void subscriber.subscribe(channel).catch(() => {});

  return {
    /** Reads the file of this node, and has the others read theirs. */
    async reload(): Promise<ReloadOutcome> {
      const issues = await readHere(nodeId);
      if (issues.length > 0) return { ok: false, issues };
      const told = replyInTime(commands.publish(channel, nodeId), () => new Error("Redis does not answer"));
      const othersTold = await told.then(
        () => true,
        () => false,
      );
      return { ok: true, served: models.served(), othersTold };
    },
    close(): void {
      subscriber.disconnect();
      commands.disconnect();
    },
  };
}
