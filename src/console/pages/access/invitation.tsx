/** An invitation that was followed: its token is behind `#`, where no server sees it. */
import { useQueryClient } from "@tanstack/react-query";
import { MailOpen } from "lucide-react";
import { useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Button, ButtonLink } from "../../kit/controls/button.tsx";
import { Empty, Page, Panel, Trouble } from "../../kit/page.tsx";
import { inert } from "../../kit/values/text.tsx";

/** `#token=…`, or the token alone. */
function tokenIn(hash: string): string | null {
  const text = decodeURIComponent(hash.replace(/^#/, ""));
  const named = new URLSearchParams(text).get("token");
  return named ?? (text === "" ? null : text);
}

export function InvitationPage() {
  const queries = useQueryClient();
  const [token] = useState(() => tokenIn(location.hash));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [team, setTeam] = useState<Schemas["Team"] | null>(null);
  const accept = async () => {
    setBusy(true);
    setError(null);
    try {
      const accepted = await answer(
        svc.POST("/v1/colony/invitations/accept", { params: {}, body: { token: token ?? "" } }),
      );
      setTeam(accepted.team);
      history.replaceState(null, "", location.pathname);
      await queries.invalidateQueries();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Page title="Invitation" wide={false}>
      <Panel>
        {team !== null ? (
          <Empty
            icon={MailOpen}
            title={`You belong to ${inert(team.display_name)} now`}
            actions={<ButtonLink to="/team">See the team</ButtonLink>}
          >
            You are {team.role}.
          </Empty>
        ) : token === null ? (
          <Empty icon={MailOpen} title="This link carries no invitation">
            Open the whole link of the mail, or ask for a new invitation.
          </Empty>
        ) : (
          <Empty
            icon={MailOpen}
            title="You are invited to a team"
            actions={
              <Button look="primary" busy={busy} onClick={() => void accept()}>
                Accept
              </Button>
            }
          >
            When you accept, you work in the team’s tenant with the role that the invitation gives you.
            {error !== null && (
              <div className="mt-3 text-left">
                <Trouble error={error} />
              </div>
            )}
          </Empty>
        )}
      </Panel>
    </Page>
  );
}
