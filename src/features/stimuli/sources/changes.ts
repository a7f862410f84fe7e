/** Changes of sources that are there: their settings, and their secrets, which are rotated. */
import type { Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { type Changer, newSecretText, type SourceParts, textOf, withMinted } from "./parts.ts";
import type { ShownRow, StoredSecrets } from "./records.ts";
import type { ChangedSource, Rotated, Rotation, SourceChange } from "./schema.ts";
import {
  changedSettings,
  differences,
  givenSecret,
  replacedSettings,
  type SecretChange,
  type SourceSettings,
  secretChangeOf,
} from "./settings.ts";
import { environmentSecretOf } from "./verification/keys.ts";
import { checkUsable, decryptedSecret, mintedSecret, replacedSecrets, rotatedSecrets } from "./verification/secrets.ts";
import { settingsOf, shownSettings } from "./wire.ts";

/** How often a change is tried anew after another one that came between. */
const rounds = 5;
const defaultPreviousSeconds = 86_400;

/** What a change writes, if anything, and how it is answered with the row as it is then. */
interface Planned<T> {
  readonly write: {
    readonly settings: SourceSettings;
    readonly secrets: StoredSecrets | null;
    readonly verb: string;
    readonly details: Record<string, Json>;
  } | null;
  readonly answer: (row: ShownRow) => T;
}

/** Changing what is there: settings, and the secret. */
export function changing(parts: SourceParts) {
  const { sql, encryption, environment, now, records, find, shown } = parts;

  /**
   * Changes a row as it was read; where another change came between it is read again.
   * @throws Problem 404 `route_not_found`, 503 when there is no end to other changes
   */
  async function changeRow<T>(
    changer: Changer,
    id: string,
    change: (row: ShownRow) => Promise<Planned<T>>,
  ): Promise<T> {
    for (let round = 0; round < rounds; round++) {
      const row = await find(changer.tenant, id);
      const { write, answer } = await change(row);
      if (write === null) return answer(row);
      const { settings, secrets, verb, details } = write;
      const { tenant, revision, source } = row;
      const done = await sql.begin(async (tx) => {
        const at = new Date(now());
        if (!(await records.update(tx, { tenant, id, revision, settings, secrets, at }))) return false;
        await parts.append(tx, changer, verb, id, details);
        return true;
      });
      if (!done) continue;
      parts.changed({ tenant, source, id });
      return answer(await find(tenant, id));
    }
    throw new Problem("service_unavailable", "This route is being changed; try again", {}, { "Retry-After": "1" });
  }

  /** @throws Problem 422 of the body, `secret_forbidden`, `unknown_workflow`; 404 `route_not_found` */
  function update(
    changer: Changer,
    id: string,
    body: SourceChange,
    merge: (settings: SourceSettings, body: SourceChange) => SourceSettings,
  ): Promise<ChangedSource> {
    const secretChange = secretChangeOf(body);
    return changeRow(changer, id, async (row) => {
      const before = settingsOf(row);
      const settings = merge(before, body);
      const text = newSecretText(secretChange, settings);
      const secrets = changedSecrets(row, secretChange, text, settings);
      const standing = secretChange === "keep" ? storedText(row) : text;
      const referred = await parts.checkReference(changer, standing);
      await parts.checkWorkflow(changer.tenant, settings, before);
      const changed = [...differences(before, settings), ...(secrets === null ? [] : ["secret"])];
      const answer = (after: ShownRow) => withMinted(shown(after), secretChange, text);
      if (changed.length === 0) return { write: null, answer };
      return {
        write: { settings, secrets, verb: "updated", details: { ...shownSettings(settings), ...referred, changed } },
        answer,
      };
    });
  }

  /** The stored secret; null for none, and for one that does not open: then nothing can use it. */
  function storedText(row: ShownRow): string | null {
    try {
      return decryptedSecret(encryption, row);
    } catch (error) {
      if (error instanceof Problem) return null;
      throw error;
    }
  }

  /**
   * A row's secrets after a change; null: they stay.
   * @throws Problem 422 `validation_failed` when the secret, new or kept, is none of the source's preset
   */
  function changedSecrets(row: ShownRow, secretChange: SecretChange, text: string | null, { preset }: SourceSettings) {
    if (text !== null) checkUsable(preset, text, "secret");
    if (secretChange === "keep") {
      const kept = preset === row.preset ? null : decryptedSecret(encryption, row);
      if (kept !== null) checkUsable(preset, kept, "signature");
      return null;
    }
    return text === null && row.secret === null ? null : replacedSecrets(encryption, row, text);
  }

  return {
    /** Changes what the body names. @throws as `create`, and 404 `route_not_found`, 422 `immutable_field` */
    patch: (changer: Changer, id: string, body: SourceChange) => update(changer, id, body, changedSettings),

    /** Sets everything but the secret, which stays unless the body says otherwise. @throws as `patch` */
    replace: (changer: Changer, id: string, body: SourceChange) => update(changer, id, body, replacedSettings),

    /**
     * Puts a new secret in force; the one before, the environment's too, stays valid for a while.
     * @throws Problem 404 `route_not_found`, 422 `validation_failed`, `secret_forbidden`
     */
    rotate(changer: Changer, id: string, body: Rotation): Promise<Rotated> {
      const given = body.secret === undefined ? null : textOf(givenSecret(body.secret));
      const seconds = body.previous_valid_seconds ?? defaultPreviousSeconds;
      return changeRow(changer, id, async (row) => {
        const { tenant, source, preset } = row;
        const secret = given ?? mintedSecret(preset);
        checkUsable(preset, secret, "secret");
        const referred = await parts.checkReference(changer, given);
        const before = row.secret === null ? environmentSecretOf(environment, tenant, source, preset) : null;
        const expiresAt = seconds === 0 ? null : new Date(now() + seconds * 1000);
        const secrets = rotatedSecrets(encryption, row, secret, before?.current ?? null, expiresAt);
        const expires = secrets.previous_expires_at?.toISOString() ?? null;
        const minted = given === null ? { secret } : {};
        return {
          write: {
            settings: settingsOf(row),
            secrets,
            verb: "secret_rotated",
            details: { source, minted: given === null, ...referred, previous_secret_expires_at: expires },
          },
          answer: () => ({ id, ...minted, previous_secret_expires_at: expires }),
        };
      });
    },
  };
}
