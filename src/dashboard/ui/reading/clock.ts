import { signal } from "@preact/signals";

/** The present time for relative times; it moves every few seconds. */
export const clock = signal(Date.now());

setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5000);
