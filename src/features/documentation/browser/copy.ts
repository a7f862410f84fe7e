/** A button at each block of code that copies it. */

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll<HTMLElement>(".code:not(.output)")) {
    const code = block.querySelector("code");
    if (code === null) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => {
      copied(code.textContent ?? "")
        .then(
          () => "Copied",
          () => "Not copied",
        )
        .then((said) => {
          button.textContent = said;
          setTimeout(() => {
            button.textContent = "Copy";
          }, 1500);
        })
        .catch(() => {});
    });
    block.append(button);
  }
}

/** Pages that are not of a secure origin have no clipboard of their own: there a selection is copied. */
async function copied(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text.trimEnd());
  const area = document.createElement("textarea");
  area.value = text.trimEnd();
  document.body.append(area);
  area.select();
  const isDone = document.execCommand("copy");
  area.remove();
  if (!isDone) throw new Error("the browser copies nothing here");
}
