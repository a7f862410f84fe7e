/** An address that leads nowhere. */
import { Compass } from "lucide-react";
import { ButtonLink } from "../kit/controls/button.tsx";
import { Empty, Page } from "../kit/page.tsx";

export function Lost() {
  return (
    <Page title="There is no such page">
      <Empty icon={Compass} title="This address leads nowhere" actions={<ButtonLink to="/">Home</ButtonLink>}>
        The record may have been deleted, or the address is incomplete.
      </Empty>
    </Page>
  );
}
