/** Which backend keeps secrets, and how a vault is reached (docs/reference/secrets.md). */

import type { Values } from "../../config/setting.ts";
import { choice, flag, secret, text, url } from "../../config/setting.ts";

const segments = /^[A-Za-z0-9_.-]+(?:\/[A-Za-z0-9_.-]+)*$/;

export const secretSettings = {
  secretsBackend: choice("SVC_SECRETS_BACKEND", {
    meaning: "where secrets are kept: encrypted in PostgreSQL, or in a Vault or OpenBao server (KV version 2)",
    of: ["postgres", "vault"],
    default: "postgres",
  }),
  vaultAddress: url("SVC_VAULT_ADDR", {
    meaning: "address of the vault; http only on loopback or in development mode",
    schemes: ["https", "http"],
  }),
  vaultCaFile: text("SVC_VAULT_CA_FILE", {
    meaning: "PEM file of the certificate authorities that the vault's certificate may be of; the system's when unset",
    pattern: /^[^\0]*$/,
    bounds: "a path",
    default: "",
  }),
  vaultMount: text("SVC_VAULT_MOUNT", {
    meaning: "path of the vault's KV engine",
    pattern: segments,
    bounds: "a path without slashes at its ends",
    default: "secret",
  }),
  vaultNamespaces: flag("SVC_VAULT_NAMESPACES", {
    meaning: "a tenant's vault_namespace is a namespace of the server rather than a folder of the mount",
    default: false,
  }),
  vaultAuth: choice("SVC_VAULT_AUTH", {
    meaning: "how the vault is entered: by SVC_VAULT_TOKEN, or as the pod's service account",
    of: ["token", "kubernetes"],
    default: "token",
  }),
  vaultToken: secret("SVC_VAULT_TOKEN", { meaning: "token for the vault; it is renewed while the node runs" }),
  vaultRole: text("SVC_VAULT_ROLE", {
    meaning: "role of the Kubernetes authentication",
    pattern: /^[^\0]*$/,
    bounds: "text",
    default: "",
  }),
  vaultAuthPath: text("SVC_VAULT_AUTH_PATH", {
    meaning: "path of the Kubernetes authentication",
    pattern: segments,
    bounds: "a path without slashes at its ends",
    default: "kubernetes",
  }),
};

export type SecretSettings = Values<typeof secretSettings>;

/** What no single setting shows, as sentences. */
export function contradictions(settings: Partial<SecretSettings>, { production }: { readonly production: boolean }) {
  if (settings.secretsBackend !== "vault") return [];
  const { vaultAddress: address, vaultAuth: auth, vaultToken: token, vaultRole: role } = settings;
  const found: string[] = [];
  if (address === null) found.push("SVC_SECRETS_BACKEND vault needs SVC_VAULT_ADDR");
  if (typeof address === "string" && production && !isProtected(address)) {
    found.push("SVC_VAULT_ADDR must be https, or http on loopback");
  }
  if (auth === "token" && token === null) found.push("SVC_VAULT_AUTH token needs SVC_VAULT_TOKEN");
  if (auth === "kubernetes" && role === "") found.push("SVC_VAULT_AUTH kubernetes needs SVC_VAULT_ROLE");
  return found;
}

function isProtected(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === "https:" || hostname === "localhost" || hostname === "[::1]" || /^127\.[\d.]+$/.test(hostname);
}
