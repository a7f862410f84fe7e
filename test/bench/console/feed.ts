/** What happens at a node while the console is looked at: many executions, one of many events, events at a steady rate. */
import { openPostgres, type Sql } from "../../../src/store/postgres/pool.ts";
import { until } from "../../harness/until.ts";
import { type BenchService, deployBenchAgent } from "../service.ts";
import { pumped } from "../table.ts";

const script = [{ tool_calls: [{ name: "cmd.run", arguments: { command: "true", args: [] } }] }];
const prompt = `Run one command after another.\n\n\`\`\`svc-script\n${JSON.stringify(script)}\n\`\`\`\n`;

export class Feed {
  private constructor(
    readonly service: BenchService,
    readonly sql: Sql,
    readonly agentId: string,
  ) {}

  static async open(service: BenchService, databaseUrl: string, schema: string): Promise<Feed> {
    const sql = openPostgres({ url: databaseUrl, schema, poolSize: 2 });
    return new Feed(service, sql, await deployBenchAgent(service, "bench-console", prompt));
  }
  close = (): Promise<void> => this.sql.end({ timeout: 2 });

  /** Executions that stand still. @returns their ids, oldest first */
  async executions(count: number): Promise<string[]> {
    const ids: string[] = [];
    await pumped(count, 8, async () => void ids.push(await this.start()));
    return ids;
  }

  async start(): Promise<string> {
    const answer = await this.service.post("/v1/executions", { agent_id: this.agentId, input: "go" });
    if (!answer.ok) throw new Error(`start: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { execution_id: string }).execution_id;
  }

  async cancel(id: string): Promise<void> {
    const answer = await this.service.post(`/v1/executions/${id}/cancel`, {});
    await answer.arrayBuffer();
  }

  /**
   * An execution that has ended and has so many events: turns of a model, calls of a tool, lines on its console.
   * @returns its id
   */
  async longExecution(events: number): Promise<string> {
    const id = await this.start();
    await this.cancel(id);
    const last = await until(
      async () => {
        const [row] = await this.sql<{ seq: number }[]>`
          select seq::int from runtime_logs where kind = 'execution' and key = ${id} and log = 'events'
            and entry::jsonb ? 'execution_cancelled'`;
        return row?.seq;
      },
      { what: "the execution to be cancelled" },
    );
    const more = events - last;
    const [row] = await this.sql<{ at: string }[]>`
      select at from runtime_logs where kind = 'execution' and key = ${id} and log = 'events' and seq = ${last}`;
    const at = Number(row?.at);
    await this.sql`
      update runtime_logs set seq = seq + ${more} where kind = 'execution' and key = ${id} and log = 'events' and seq = ${last}`;
    const entries = Array.from({ length: more }, (_, index) => ({
      seq: last + index,
      entry: JSON.stringify(anEvent(index, { execution_id: id, agent_id: this.agentId }, at)),
    }));
    await this.sql`
      insert into runtime_logs (kind, key, log, seq, at, entry)
      select 'execution', ${id}, 'events', seq, ${at}, entry
      from unnest(${entries.map(({ seq }) => seq)}::bigint[], ${entries.map(({ entry }) => entry)}::text[]) as t (seq, entry)`;
    return id;
  }

  /** When each event of an execution was committed, Unix ms, by its number. */
  async times(id: string): Promise<Map<number, number>> {
    const rows = await this.sql<{ seq: string; at: string }[]>`
      select seq, at from runtime_logs where kind = 'execution' and key = ${id} and log = 'events'`;
    return new Map(rows.map(({ seq, at }) => [Number(seq), Number(at)]));
  }

  /** Calls of a tool one after the other, three events each. @returns when it is to end */
  async work(id: string, rounds: number, everyMs: number): Promise<void> {
    const token = await this.service.tokenOf(id);
    const send = async (message: object): Promise<string> => {
      const answer = await fetch(`${this.service.internalUrl}/v1/dispatch-gateway`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ execution_id: id, ...message }),
      });
      const reply = (await answer.json()) as { type?: string; dispatch_id?: string };
      if (reply.type !== "dispatch") throw new Error(`gateway: ${answer.status} ${JSON.stringify(reply)}`);
      return reply.dispatch_id ?? "";
    };
    let dispatch = await send({ type: "generate", iteration_number: 1, model_alias: "default", prompt });
    const begun = performance.now();
    for (let round = 1; round <= rounds; round += 1) {
      await Bun.sleep(Math.max(0, begun + round * everyMs - performance.now()));
      dispatch = await send({ type: "dispatch_result", dispatch_id: dispatch, exit_code: 0, stdout: "ok\n" });
    }
  }
}

/** Events of a run that works: a turn of the model, the call that it asks for, a line that the command writes. */
function anEvent(index: number, subject: object, from: number): object {
  const timestamp = new Date(from + index * 5).toISOString();
  const call = { ...subject, iteration_number: 1, tool_name: "cmd.run", call_id: `call-${Math.floor(index / 4)}` };
  switch (index % 4) {
    case 0:
      return {
        llm_interaction: {
          ...subject,
          ...{ iteration_number: 1, provider: "script", model: "script", input_tokens: 900 + index, output_tokens: 40 },
          ...{ prompt: "What is next?", response: "I look at the next file.", timestamp, _tool_calls: [] },
        },
      };
    case 1:
      return {
        tool_call_started: {
          ...call,
          ...{ started_at: timestamp, _dispatched: true, _arguments: { command: "cat", args: [`file-${index}.txt`] } },
        },
      };
    case 2:
      return {
        console_output: {
          ...subject,
          ...{ iteration_number: 1, stream: "stdout", content: `line ${index} of a file that was read\n`, timestamp },
          call_id: call.call_id,
        },
      };
    default:
      return {
        tool_call_completed: {
          ...call,
          ...{ status: "succeeded", exit_code: 0, duration_ms: 10, completed_at: timestamp },
          ...{ _result: { exit_code: 0, stdout: `line ${index} of a file that was read\n` }, _error: null },
        },
      };
  }
}
