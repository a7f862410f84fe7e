/** What is seen before a caller is signed in. */
import { Building2, LogIn, UserRound } from "lucide-react";
import { useState } from "react";
import { Button } from "../../kit/controls/button.tsx";
import { Input } from "../../kit/controls/field.tsx";
import { Trouble } from "../../kit/page.tsx";
import { leave, type SignInConfig, signInAs } from "./session.ts";

export function SignIn({ config, reason }: { readonly config: SignInConfig; readonly reason: string | null }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [slug, setSlug] = useState("");
  const [isOther, setOther] = useState(false);
  const [typed, type] = useState("");
  const go = (action: () => Promise<void>) => {
    setBusy(true);
    setError(null);
    action()
      .catch(setError)
      .finally(() => setBusy(false));
  };
  const people = config.people ?? [];
  return (
    <div className="flex flex-col gap-4">
      <h2 className="m-0 font-semibold text-base">Sign in</h2>
      {reason !== null && <p className="m-0 rounded-control bg-warn-soft px-3 py-2 text-warn text-xs">{reason}</p>}
      {error !== null && <Trouble error={error} />}
      {config.password ? (
        <>
          <p className="m-0 text-ink-soft text-xs">This node runs in development mode. Choose who you are.</p>
          {people.some(({ password }) => password === null) && (
            <Input
              label="Password"
              type="password"
              hint="The node was started with SVC_DEV_PASSWORD"
              value={typed}
              onChange={type}
            />
          )}
          <div className="flex flex-col gap-2">
            {people.map(({ issuer, username, password, title }) => (
              <Button
                key={`${issuer} ${username}`}
                busy={busy}
                className="h-auto justify-start px-3 py-2 text-left"
                onClick={() => go(() => signInAs({ issuer, username, password: password ?? typed }))}
              >
                <UserRound aria-hidden />
                <span className="min-w-0 flex-1 whitespace-normal">
                  <span className="block">{username}</span>
                  <span className="block font-normal text-ink-soft text-xs">{title}</span>
                </span>
              </Button>
            ))}
          </div>
        </>
      ) : (
        <Button look="primary" busy={busy} onClick={() => go(() => leave(null))}>
          <LogIn aria-hidden />
          Continue
        </Button>
      )}
      {isOther ? (
        <form
          className="flex items-end gap-2 border-line border-t pt-4"
          onSubmit={(event) => {
            event.preventDefault();
            go(() => leave(slug.trim()));
          }}
        >
          <Input
            label="Organization"
            hint="Its short name, as in acme"
            value={slug}
            onChange={setSlug}
            className="flex-1"
            autoFocus
            required
          />
          <Button type="submit" busy={busy} className="mb-5">
            Continue
          </Button>
        </form>
      ) : (
        <Button look="ghost" onClick={() => setOther(true)}>
          <Building2 aria-hidden />
          Sign in with your organization
        </Button>
      )}
    </div>
  );
}
