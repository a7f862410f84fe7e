import type { PageEntry } from "../../app/page-entry.ts";

export const accessPages: readonly PageEntry[] = [
  { path: "/secrets", load: () => import("./secrets.tsx"), name: "Secrets" },
  { path: "/credentials", load: () => import("./credentials.tsx"), name: "Credentials" },
  { path: "/credentials/$id", load: () => import("./credential.tsx"), name: "CredentialPage" },
  { path: "/api-keys", load: () => import("./api-keys.tsx"), name: "ApiKeys" },
  { path: "/team", load: () => import("./team.tsx"), name: "TeamPage" },
  { path: "/invitations", load: () => import("./invitation.tsx"), name: "InvitationPage" },
];
