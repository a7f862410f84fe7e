/** The name of a workflow, with those there are as suggestions. */
import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Input } from "../../kit/controls/field.tsx";
import { inert } from "../../kit/values/text.tsx";

interface WorkflowInputProps {
  readonly label: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly hint: string;
  readonly disabled?: boolean;
}

export function WorkflowInput(props: WorkflowInputProps) {
  const list = useId();
  const can = useCan();
  const { data } = useQuery({
    queryKey: ["workflow", "list", "names"],
    queryFn: () => answer(svc.GET("/v1/workflows", { params: { query: { limit: 200 } } })),
    enabled: can("workflow:list"),
  });
  return (
    <>
      <Input {...props} list={list} />
      <datalist id={list}>
        {data?.items.map(({ id, name }) => (
          <option key={id} value={name}>
            {inert(name)}
          </option>
        ))}
      </datalist>
    </>
  );
}
