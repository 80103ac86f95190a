import type { Page } from "playwright-core";

/** Waits until the page has closed its dialog, and has taken notice: it is not only hidden. Throws what a dialog says that stays. */
export async function dialogIsGone(page: Page): Promise<void> {
  const dialog = page.locator("dialog");
  await dialog.waitFor({ state: "detached" }).catch(async (cause: unknown) => {
    throw new Error(`The dialog stays open: ${await dialog.textContent()}`, { cause });
  });
}
