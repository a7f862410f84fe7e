/** A new security context, from a text with comments. */

import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { Input } from "../../kit/controls/field.tsx";
import { TextLink } from "../../kit/controls/link.tsx";
import { tell } from "../../kit/dialogs/toast.tsx";
import { Page, Panel } from "../../kit/page.tsx";
import { Cli } from "../../kit/values/cli.tsx";
import { TextEditor } from "./editor.tsx";
import { contextLink, template } from "./words.ts";

const pattern = /^[a-z][a-z0-9-]{0,62}$/;

/** Stands for the name while there is none. */
const unnamed = "not-yet-named";

export function NewContext() {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const trimmed = name.trim();
  return (
    <Page
      title="New security context"
      about={
        <span className="flex min-w-0 flex-wrap items-center gap-2">
          <TextLink to="/security-contexts">Security contexts</TextLink>
          Change what is below and make it. From a terminal:
          <Cli args="contexts create context.yaml" />
        </span>
      }
    >
      <Panel>
        <Input
          label="Name"
          value={name}
          onChange={setName}
          required
          autoFocus
          placeholder="build"
          className="max-w-sm"
          hint="As manifests and sessions name it; one named default holds for every agent that names none."
          error={trimmed === "" || pattern.test(trimmed) ? null : "small letters, digits and -, a letter first"}
        />
      </Panel>
      <TextEditor
        first={template}
        stored={null}
        verb="Make it"
        about={trimmed === "" ? "It needs a name." : `${trimmed} can be named at once by those who may.`}
        disabled={!pattern.test(trimmed)}
        checked={pattern.test(trimmed) ? trimmed : unnamed}
        onCheck={(written) => {
          const body = { ...written, name: pattern.test(trimmed) ? trimmed : unnamed };
          return answer(svc.POST("/v1/security-contexts", { params: { query: { dry_run: true } }, body }));
        }}
        onSave={async (written) => {
          const body = { ...written, name: trimmed };
          const made = await answer(svc.POST("/v1/security-contexts", { params: {}, body }));
          tell(`${made.name} is made`);
          await queries.invalidateQueries({ queryKey: ["security_context"] });
          await navigate({ to: contextLink(made.name) as never });
        }}
      />
    </Page>
  );
}
