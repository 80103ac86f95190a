import { createMemoryWebhookStore } from "../support/memory/memory-webhook-store.ts";
import { behavesAsWebhookStore } from "./webhook-store-contract.ts";

describe("Webhooks in memory", () => {
  behavesAsWebhookStore(async () => createMemoryWebhookStore());
});
