/** Messages that were told and that Redis lost: they are sent again until it takes them. */
import { expect, test } from "bun:test";
import { Calls } from "../../../src/runtime/mailbox/calls.ts";
import type { Envelope } from "../../../src/runtime/mailbox/envelope.ts";
import { sending } from "../../../src/runtime/mailbox/sending.ts";
import { MailboxFull } from "../../../src/runtime/port.ts";
import { until } from "../../harness/until.ts";
import { at } from "../harness.ts";

/** A sender whose mailboxes refuse as many messages as said. */
function teller() {
  const calls = new Calls("n");
  const sent: Envelope[] = [];
  const mailboxes = { refused: 0 };
  const { tell } = sending({
    node: "n",
    partitions: 1,
    calls,
    writer: {
      async send(_, envelope) {
        if (mailboxes.refused-- > 0) throw new MailboxFull(1);
        sent.push(envelope);
      },
    },
    now: () => 0,
    lane: () => null,
    acknowledges: () => true,
    crash: () => {},
  });
  return { calls, sent, mailboxes, tell };
}

test("a told message that Redis lost is sent again until its mailbox takes it", async () => {
  const { calls, sent, mailboxes, tell } = teller();
  await tell(at("a"), "add", {});
  mailboxes.refused = 2;
  calls.storeLost();
  await until(() => sent.length === 2, { what: "the message to be sent again" });
  calls.close();
  expect(new Set(sent.map(({ source, sequence }) => `${source} ${sequence}`)).size).toBe(1);
  expect(mailboxes.refused).toBeLessThan(0);
});

test("a told message is not sent again once a commit has taken it", async () => {
  const { calls, sent, mailboxes, tell } = teller();
  await tell(at("a"), "add", {});
  mailboxes.refused = Number.POSITIVE_INFINITY;
  calls.storeLost();
  calls.settle(sent[0]?.acknowledge?.call ?? "", { value: null });
  mailboxes.refused = 0;
  // Behind the first of its pauses.
  await Bun.sleep(200);
  calls.close();
  expect(sent.length).toBe(1);
});
