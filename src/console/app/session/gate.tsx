/** Lets a caller in who is signed in, and offers to sign in to all others. */
import { RouterProvider } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect } from "react";
import { Loading, Trouble, useTitle } from "../../kit/page.tsx";
import { Mark } from "../mark.tsx";
import { router } from "../router.tsx";
import { consolePath } from "./place.ts";
import { start, useSession } from "./session.ts";

// Who comes back is signed in without it.
const SignIn = lazy(() => import("./sign-in.tsx").then(({ SignIn }) => ({ default: SignIn })));

export function SignInGate() {
  const session = useSession();
  useEffect(() => {
    start().catch(() => {});
    // The page comes while the caller is signed in.
    const { pathname } = location;
    router.preloadRoute({ to: pathname.slice(consolePath.length) || "/" }).catch(() => {});
  }, []);
  switch (session.state) {
    case "in":
      return <RouterProvider router={router} />;
    case "out":
      return (
        <Frame>
          <Suspense fallback={<Loading lines={3} />}>
            <SignIn config={session.config} reason={session.reason} />
          </Suspense>
        </Frame>
      );
    case "unreachable":
      return (
        <Frame>
          <Trouble error={session.reason} retry={() => void start()} />
        </Frame>
      );
    case "starting":
      return (
        <Frame>
          <Loading lines={3} />
        </Frame>
      );
  }
}

function Frame({ children }: { readonly children: ReactNode }) {
  useTitle("Sign in");
  return (
    <main className="flex min-h-dvh items-center justify-center p-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2.5">
          <Mark className="size-8" />
          <div>
            <h1 className="m-0 font-semibold text-lg leading-6">svc</h1>
            <p className="m-0 text-ink-soft text-xs">Agents under control</p>
          </div>
        </div>
        <div className="rounded-panel border border-line bg-surface p-5">{children}</div>
      </div>
    </main>
  );
}
