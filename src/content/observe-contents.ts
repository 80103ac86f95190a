import { type AppendOutcome, timed } from "../event-log/observe-appends.ts";
import type { ContentStore } from "./content-store.ts";

/** The same store, which tells whether a content could be stored. */
export const observeContents = (store: ContentStore, observe: (outcome: AppendOutcome) => void): ContentStore => ({
  ...store,
  // It changes with the server that is connected.
  get maxBytes() {
    return store.maxBytes;
  },
  put: (job, content) => timed(() => store.put(job, content), observe),
});
