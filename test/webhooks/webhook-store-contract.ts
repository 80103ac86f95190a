import { expect } from "chai";
import { newSecret } from "../../src/signed-post/secret.ts";
import {
  maxEndpoints,
  noWebhooks,
  type WebhookEndpoint,
  withEndpoint,
  withoutEndpoint,
  withSecret,
} from "../../src/webhooks/tenant-webhooks.ts";
import type { WebhookStore } from "../../src/webhooks/webhook-store.ts";
import { now } from "../support/examples.ts";

export const endpoint = (overrides: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: "0193a5e0-7000-7a4b-9f2e-000000000001",
  url: "https://hooks.example.com/in",
  types: ["job.completed"],
  createdAt: now,
  secrets: [newSecret()],
  ...overrides,
});

/** What every store of webhooks promises. */
export function behavesAsWebhookStore(open: () => Promise<WebhookStore>): void {
  let store: WebhookStore;

  before(async () => {
    store = await open();
  });

  it("has nothing for an unknown tenant", async () => {
    expect(await store.read("nobody")).to.deep.equal(noWebhooks);
  });

  it("gives back what was stored, of this tenant and of no other", async () => {
    const one = endpoint();
    const { changed, webhooks } = await store.change("acme", (before) => withEndpoint(before, one));
    expect({ changed, webhooks }).to.deep.equal({ changed: true, webhooks: { endpoints: [one], secrets: [] } });
    expect(await store.read("acme")).to.deep.equal(webhooks);
    expect(await store.read("shop")).to.deep.equal(noWebhooks);
  });

  it("leaves it as it is where nothing is to be changed", async () => {
    const before = await store.read("acme");
    const outcome = await store.change("acme", (webhooks) => withoutEndpoint(webhooks, "another"));
    expect(outcome).to.deep.equal({ changed: false, webhooks: before });
  });

  it("loses none of what is changed at the same time, and keeps to the limit", async () => {
    const endpoints = Array.from({ length: maxEndpoints + 5 }, (_, index) => endpoint({ id: `endpoint-${index}` }));
    const outcomes = await Promise.all(
      endpoints.map((one) => store.change("crowd", (before) => withEndpoint(before, one))),
    );
    expect(outcomes.filter(({ changed }) => changed)).to.have.lengthOf(maxEndpoints);
    expect((await store.read("crowd")).endpoints).to.have.lengthOf(maxEndpoints);
  });

  it("makes one secret, however many ask for it at once", async () => {
    const made = await Promise.all(Array.from({ length: 5 }, () => store.change("eager", withSecret)));
    const secrets = new Set(made.map(({ webhooks }) => webhooks.secrets[0]?.text));
    expect([...secrets]).to.deep.equal([(await store.read("eager")).secrets[0]?.text]);
  });
}
