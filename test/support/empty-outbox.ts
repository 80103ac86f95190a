import type { OutboxRequests } from "../../src/outbox/outbox-requests.ts";

/** Where no application writes any rows. */
export const emptyOutbox: OutboxRequests = {
  eraseRow: async () => {},
  eraseAddress: async () => ({ erased: 0, waiting: [] }),
};
