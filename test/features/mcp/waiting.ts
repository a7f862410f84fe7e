/** Calls of the tool server that wait for a person: read on later, or answered in the client (docs/reference/mcp.md). */
import { beforeAll, describe, expect, test } from "bun:test";
import type { CallToolResult, InputRequiredResult } from "@modelcontextprotocol/client";
import type { LooseJson } from "../../harness/loose-json.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { until } from "../../harness/until.ts";
import { callTool, connect, type FaceClientOptions } from "./fixture.ts";

export function waitingTests(nodes: () => readonly NodeProcess[]): void {
  const node = (): NodeProcess => nodes()[0] as NodeProcess;
  const decide = (id: string, what: "approve" | "reject", body: unknown, headers = {}) =>
    node().call("POST", `/v1/human-approvals/${id}/${what}`, body, headers);
  const named = (context: string) => ({ headers: { "X-Svc-Security-Context": context } });
  const call = (name: string, given: Record<string, unknown>, options: FaceClientOptions) =>
    callTool(nodes(), name, given, options);
  const context = async (name: string, approval: object) => {
    const capabilities = [{ tool_pattern: "svc.task.*", approval }, { tool_pattern: "svc.workflow.*" }];
    const { status } = await node().call("POST", "/v1/security-contexts", { name, capabilities });
    expect(status).toBe(201);
  };
  const waitingOf = async () => (await node().call("GET", "/v1/human-approvals")).body.pending_requests;

  describe("calls that wait for a person", () => {
    const asking = named("asking");
    const read = (invocation_id: string, wait_seconds = 25) =>
      call("svc_invocation_get", { invocation_id, wait_seconds }, asking);
    beforeAll(() => context("asking", { editable: true }));

    test("the pending object is answered, and svc_invocation_get reads on", async () => {
      const { isError, body } = await call("run_speaker", { topic: "x" }, asking);
      expect([isError, body]).toMatchObject([false, { status: "pending", code: "approval_pending" }]);
      expect(await read(body.invocation_id, 0)).toEqual({ isError: false, body });
      const shown = (await node().call("GET", `/v1/human-approvals/${body.approval_id}`)).body.request;
      expect(shown).toMatchObject({
        kind: "tool_call",
        tool_call: { tool: "svc.task.execute", arguments: { agent_id: "speaker", input: { topic: "x" } } },
      });
      const edited = { agent_id: "speaker", input: { topic: "edited" } };
      expect((await decide(body.approval_id, "approve", { arguments: edited })).status).toBe(200);
      const { body: after } = await read(body.invocation_id);
      expect(after).toMatchObject({ status: "success", outcome: "success", result: { edited: true } });
      const record = (await node().call("GET", `/v1/executions/${after.result.execution_id}`)).body;
      expect(record).toMatchObject({ input: { topic: "edited" } });
      const invocation = await until(async () => {
        const found = (await node().call("GET", `/v1/tool-invocations/${body.invocation_id}`)).body;
        return found.outcome === "success" ? found : null;
      });
      expect(invocation).toMatchObject({ entry: "mcp", approval_id: body.approval_id });
      expect(invocation.edited_arguments).toMatchObject({ input: { topic: "edited" } });
    });

    test("a rejection is told with its reason, and nothing is run", async () => {
      const { body } = await call("run_speaker", { topic: "no" }, asking);
      await decide(body.approval_id, "reject", { reason: "not today" });
      expect((await read(body.invocation_id)).body).toMatchObject({
        outcome: "failed",
        result: { code: "rejected_by_person", reason: "not today" },
      });
    });

    test("another caller does not read it, and a ninth call may not wait", async () => {
      const token = await node().token({ sub: "another-caller" });
      const first = await call("run_speaker", { topic: "1" }, asking);
      const { invocation_id } = first.body;
      const foreign = await call("svc_invocation_get", { invocation_id }, { ...asking, token });
      expect(foreign).toMatchObject({ isError: true, body: { code: "not_found" } });
      for (let count = 2; count <= 8; count += 1) {
        expect((await call("run_speaker", { topic: `${count}` }, asking)).body.status).toBe("pending");
      }
      expect((await call("run_speaker", { topic: "9" }, asking)).body).toMatchObject({ error_code: 2008 });
      await decide(first.body.approval_id, "reject", { reason: "no" });
      await read(invocation_id);
      expect((await call("run_speaker", { topic: "10" }, asking)).body.status).toBe("pending");
      for (const { id } of await waitingOf()) await decide(id, "reject", { reason: "the test is over" });
    });
  });

  describe("a person is asked in the client", () => {
    const password = { grant_type: "password", username: "admin", password: "dev" };
    let person: string;
    let sub: string;
    beforeAll(async () => {
      person = await node().token(password, "svc-system");
      sub = JSON.parse(Buffer.from(person.split(".")[1] ?? "", "base64url").toString()).sub;
      await context("eliciting", { elicit: true });
      await context("quiet", { elicit: false });
      await context("for-others", { elicit: true, approvers: ["role:readonly"] });
      await context("not-oneself", { elicit: true, forbid_initiator: true });
      await context("two-people", { elicit: true, quorum: 2, editable: true });
    });

    /** A client whose person answers so. */
    const answering = (action: string, content?: Record<string, string>) => {
      const questions: string[] = [];
      const elicit = (message: string) => {
        questions.push(message);
        return content === undefined ? { action } : { action, content };
      };
      return { questions, elicit };
    };
    const approving = () => answering("accept", { decision: "approve" });

    test("an approval lets the same call run to its end, decided by that person", async () => {
      const { questions, elicit } = approving();
      const { isError, body } = await call(
        "run_speaker",
        { topic: "asked" },
        { ...named("eliciting"), token: person, elicit },
      );
      expect([isError, body]).toMatchObject([false, { status: "completed", output: "spoken" }]);
      expect(questions).toHaveLength(1);
      for (const part of ["svc.task.execute", "speaker", "asked"]) expect(questions[0]).toContain(part);
      const { approvals } = (await node().call("GET", "/v1/human-approvals/history")).body;
      expect(approvals[0]).toMatchObject({ status: "approved", via: "approve", decided_by: { sub, kind: "operator" } });
      expect(approvals[0].tool_call).toMatchObject({ executed: true, security_context: "eliciting" });
    });

    test.each([
      ["a rejection", answering("accept", { decision: "reject", reason: "too early" }), "too early"],
      ["a question that is declined", answering("decline"), "Declined by the person in the client"],
    ])("%s ends the call, and nothing runs", async (_, { elicit }, reason) => {
      const options = { ...named("eliciting"), token: person, elicit };
      expect(await call("run_speaker", { topic: "no" }, options)).toMatchObject({
        isError: true,
        body: { code: "rejected_by_person", reason },
      });
    });

    test("who puts the question aside has the pending object, and may decide elsewhere", async () => {
      const { questions, elicit } = answering("cancel");
      const options = { ...named("eliciting"), token: person, elicit };
      const { body } = await call("run_speaker", { topic: "later" }, options);
      expect([questions.length, body]).toMatchObject([1, { status: "pending", code: "approval_pending" }]);
      expect((await decide(body.approval_id, "approve", {})).status).toBe(200);
    });

    test("a key, a machine, an old client and approvals for others stay pending", async () => {
      const made = await node().call(
        "POST",
        "/v1/api-keys",
        { name: "asks", scopes: ["agent:execute", "approval:approve", "approval:reject", "execution:read"] },
        { Authorization: `Bearer ${person}` },
      );
      const { questions, elicit } = approving();
      const all: readonly [what: string, context: string, options: FaceClientOptions, questions: number][] = [
        ["a key of that person", "eliciting", { token: made.body.key ?? made.body.value, elicit }, 0],
        ["a machine", "eliciting", { elicit }, 0],
        ["a client that cannot ask", "eliciting", { token: person }, 0],
        ["a client of 2025", "eliciting", { token: person, elicit, era: "legacy" }, 0],
        ["a capability without elicit", "quiet", { token: person, elicit }, 0],
        ["an approval for others", "for-others", { token: person, elicit }, 0],
        ["the initiator's own", "not-oneself", { token: person, elicit }, 0],
        ["one of two people", "two-people", { token: person, elicit }, 1],
      ];
      for (const [what, context, options, asked] of all) {
        questions.length = 0;
        const { body } = await call("run_speaker", { topic: what }, { ...named(context), ...options });
        expect([what, body, questions.length]).toMatchObject([what, { status: "pending" }, asked]);
        await decide(body.approval_id, "reject", { reason: "the test is over" }, { Authorization: `Bearer ${person}` });
      }
    });

    type Params = { readonly arguments?: Record<string, unknown>; readonly name?: string; readonly state?: string };
    /** Calls as the library does by itself; with a state it brings an approval. */
    async function callByHand(token: string, context: string, { state, ...params }: Params) {
      const { client } = await connect(nodes(), "modern", { ...named(context), token, ...approving() });
      const inputResponses = { decision: { action: "accept", content: { decision: "approve" } } };
      const more = state === undefined ? {} : { requestState: state, inputResponses };
      const made = client.callTool({ name: "run_speaker", ...params, ...more }, { allowInputRequired: true });
      return made.finally(() => client.close()) as Promise<CallToolResult | InputRequiredResult>;
    }

    test("after an edit the person is asked again, with the arguments as they are", async () => {
      const ask = (state?: string) => {
        const more = state === undefined ? {} : { state };
        return callByHand(person, "two-people", { arguments: { topic: "shown" }, ...more });
      };
      const first = (await ask()) as InputRequiredResult;
      const { id } = (await waitingOf()).at(-1);
      const edited = { agent_id: "speaker", input: { topic: "edited" } };
      expect((await decide(id, "approve", { arguments: edited })).status).toBe(200);
      const second = (await ask(first.requestState)) as InputRequiredResult;
      expect(second.resultType).toBe("input_required");
      expect(JSON.stringify(second.inputRequests)).toContain("edited");
      expect((await node().call("GET", `/v1/human-approvals/${id}`)).body.request.status).toBe("pending");
      const done = (await ask(second.requestState)) as CallToolResult;
      expect(done.structuredContent as LooseJson).toMatchObject({ status: "completed" });
    });

    test("a requestState of another caller, another call, or altered is refused", async () => {
      const first = { topic: "bound", deeper: { b: 1, a: [2] } };
      const byHand = (token: string, params: Params) => callByHand(token, "eliciting", { arguments: first, ...params });
      const { requestState: state = "", resultType } = (await byHand(person, {})) as InputRequiredResult;
      expect(resultType).toBe("input_required");
      expect(Buffer.from(state, "base64url").toString()).not.toContain("invocation");
      const { body } = await node().call(
        "POST",
        "/v1/api-keys",
        { name: "asks-by-hand", scopes: ["agent:execute", "approval:approve", "approval:reject"] },
        { Authorization: `Bearer ${person}` },
      );
      const other = await node().token({ ...password, username: "operator" }, "svc-system");
      const flipped = `${state.slice(0, -1)}${state.endsWith("A") ? "B" : "A"}`;
      const refused: readonly [string, () => Promise<unknown>][] = [
        ["another person", () => byHand(other, { state })],
        ["a key of the same person", () => byHand(body.key ?? body.value, { state })],
        ["another tool", () => byHand(person, { state, name: "svc_task_execute" })],
        ["other arguments", () => byHand(person, { state, arguments: { topic: "other" } })],
        ["altered", () => byHand(person, { state: flipped })],
        ["none of ours", () => byHand(person, { state: "v1.a.b.c" })],
      ];
      for (const [what, answer] of refused) {
        const said = await answer().then(
          (result) => result,
          (error: Error) => error.message,
        );
        expect([what, said]).toEqual([what, expect.stringContaining("Invalid or expired requestState")]);
      }
      // It is still good, in another order of its arguments as well, and once: the same answer again decides nothing anew.
      const reordered = { deeper: { a: [2], b: 1 }, topic: "bound" };
      for (const given of [reordered, first]) {
        const answer = (await byHand(person, { state, arguments: given })) as CallToolResult;
        expect(answer.structuredContent as LooseJson).toMatchObject({ status: "completed" });
      }
    });
  });
}
