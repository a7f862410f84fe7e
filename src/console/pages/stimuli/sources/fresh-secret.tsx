/** A secret in the one moment in which it is shown, with what it is needed for: the sender's side, and a test. */
import type { Schemas } from "../../../../programs/client/client.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Dialog } from "../../../kit/dialogs/dialog.tsx";
import { Command } from "../../../kit/values/text.tsx";
import { Snippets, TestDelivery } from "./sender.tsx";

interface FreshSecretProps {
  readonly of: Schemas["Source"];
  readonly secret: string;
  readonly onClose: () => void;
}

export function FreshSecret({ of, secret, onClose }: FreshSecretProps) {
  return (
    <Dialog
      open
      size="large"
      onClose={onClose}
      title={`The secret of ${of.source}`}
      about="It is shown now and never again. Give it to the sender, and try it here."
      actions={
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <div className="flex flex-col gap-5">
        <Command text={secret} />
        <section className="flex flex-col gap-2">
          <h3 className="m-0 font-semibold">On the sender's side</h3>
          <Snippets of={of} secret={secret} />
        </section>
        <section className="flex flex-col gap-2">
          <h3 className="m-0 font-semibold">Test</h3>
          <TestDelivery of={of} secret={secret} />
        </section>
      </div>
    </Dialog>
  );
}
