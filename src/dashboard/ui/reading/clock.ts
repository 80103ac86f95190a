import { signal } from "@preact/signals";

/** For everything that is told relative to now: it moves every few seconds. */
export const clock = signal(Date.now());

setInterval(() => {
  if (!document.hidden) clock.value = Date.now();
}, 5000);
