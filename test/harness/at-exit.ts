/** What has to be ended when a test process is through; called by the preload. */
const leaving: (() => void | Promise<void>)[] = [];

export function onLeave(act: () => void | Promise<void>): void {
  leaving.push(act);
}

export async function leave(): Promise<void> {
  for (const act of leaving.splice(0).reverse()) await act();
}
