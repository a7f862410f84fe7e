/** Who may decide, as manifests name them. */
import { list, text } from "./shape.ts";

/** Good enough to tell an address from something else; whether mail arrives is not to be known here. */
export const mailAddress = /^[^\s@<>,;:"\p{Cc}]{1,64}@[^\s@<>,;:"\p{Cc}]{1,255}$/u;
const approver = text({
  max: 330,
  pattern: new RegExp(`^(?:email:${mailAddress.source.slice(1, -1)}|(?:user|role):[^\\s\\p{Cc}]{1,256})$`, "u"),
  form: "user:<sub>, email:<address> or role:<role>",
});
/** At most 100, each once. */
export const approvers = list(approver, 100)
  .or([])
  .as((list) => [...new Set(list)]);
