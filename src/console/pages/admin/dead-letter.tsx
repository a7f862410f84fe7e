/** One message that could not be processed. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";
import { Send } from "lucide-react";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useMe } from "../../app/session/session.ts";
import { Button } from "../../kit/controls/button.tsx";
import { Confirm } from "../../kit/dialogs/dialog.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Facts, Loading, Page, Panel, Trouble } from "../../kit/page.tsx";
import { Value } from "../../kit/values/json.tsx";
import { Status } from "../../kit/values/status.tsx";
import { Copyable, Lines } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

export function DeadLetterPage() {
  const { id = "" } = useParams({ strict: false }) as { id?: string };
  const { role } = useMe();
  const queries = useQueryClient();
  const [isAsked, ask] = useState(false);
  const {
    data: letter,
    error,
    refetch,
  } = useQuery({
    queryKey: ["dead_letter", "one", id],
    queryFn: () => answer(svc.GET("/v1/admin/dead-letters/{id}", { params: { path: { id } } })),
  });
  if (letter === undefined)
    return (
      <Page title="Dead letter">
        {error === null ? <Loading /> : <Trouble error={error} retry={() => void refetch()} />}
      </Page>
    );
  return (
    <Page
      title={`${letter.kind.replaceAll("_", " ")}: ${letter.message}`}
      beside={
        letter.replayed_at === null ? (
          <Status status="failed" label="set aside" />
        ) : (
          <Status status="completed" label="sent again" />
        )
      }
      about={<Copyable value={letter.id} />}
      actions={
        letter.replayed_at === null &&
        role !== null &&
        role !== "readonly" && (
          <Button look="primary" onClick={() => ask(true)}>
            <Send aria-hidden />
            Send again
          </Button>
        )
      }
    >
      <Panel title="Why it failed">
        <Lines text={letter.error} />
      </Panel>
      <Panel title="About">
        <Facts
          columns={2}
          of={[
            ["Tenant", letter.tenant_id],
            ["Receiver", <Copyable key="key" value={letter.key} />],
            ["Attempts", letter.attempts],
            ["Set aside", <Ago key="created" at={letter.created_at} />],
            ["Sent again", <Ago key="replayed" at={letter.replayed_at} />],
          ]}
        />
      </Panel>
      <Panel title="Message">
        <Value value={letter.body} open={3} />
      </Panel>
      <Confirm
        open={isAsked}
        onClose={() => ask(false)}
        title="Send this message again?"
        about="Do so once the cause is gone. It is processed once, in the order of its receiver’s mailbox."
        verb="Send again"
        onConfirm={async () => {
          await svc.POST("/v1/admin/dead-letters/{id}/replay", { params: { path: { id } } });
          tell("Sent again");
          await queries.invalidateQueries({ queryKey: ["dead_letter"] });
        }}
      />
    </Page>
  );
}
