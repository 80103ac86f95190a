import type { OutboxRequests } from "../../src/erasure/complete-erasure.ts";

/** Where no application writes any rows. */
export const emptyOutbox: OutboxRequests = {
  eraseRow: async () => {},
  eraseAddress: async () => ({ erased: 0, waiting: [] }),
};
