/** A page that is a form, for those who may send it; all others are told what they lack. */
import { lazyRouteComponent } from "@tanstack/react-router";
import { ShieldX } from "lucide-react";
import type { ReactNode } from "react";
import { ButtonLink } from "../kit/controls/button.tsx";
import { Empty, Page } from "../kit/page.tsx";
import type { PageEntry } from "./page-entry.ts";
import { useCan } from "./session/session.ts";

type Form = NonNullable<PageEntry["form"]>;

/** The component of a page, loaded when it is first opened. */
export function componentOf({ load, name, form }: PageEntry) {
  const Loaded = lazyRouteComponent(load, name as never);
  if (form === undefined) return Loaded;
  const guarded = () => (
    <Guard form={form}>
      <Loaded />
    </Guard>
  );
  return Object.assign(guarded, Loaded.preload === undefined ? {} : { preload: Loaded.preload });
}

function Guard({ form, children }: { readonly form: Form; readonly children: ReactNode }) {
  const can = useCan();
  return can(form.scope) ? children : <Lacking {...form} />;
}

function Lacking({ title, scope }: Form) {
  return (
    <Page title={title}>
      <Empty icon={ShieldX} title="You may not do this" actions={<ButtonLink to="/">Home</ButtonLink>}>
        It needs the scope <code>{scope}</code>. Those who administer the tenant can give you this right.
      </Empty>
    </Page>
  );
}
