import { expect } from "chai";
import { createAccess } from "../../src/access/access.ts";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { newKey, ringOf } from "../support/keys.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

describe("The dashboard of a service that asks for keys", () => {
  const whole = newKey({ tenant: "acme" });
  const readOnly = newKey({ tenant: "acme", scopes: ["jobs:read"] });
  const stranger = newKey({ tenant: "globex" });
  let api: RunningApi;
  let watched: WatchedPage;

  before(async () => {
    const ring = ringOf([whole.record, readOnly.record, stranger.record]);
    const settings = { mode: "required", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    api = await startApi({
      access: createAccess(ring, settings),
      dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }),
    });
    watched = await openPage(api.url);
  });
  after(async () => {
    await watched.close();
    await api.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const signInWith = async (key: string): Promise<void> => {
    await watched.page.getByLabel("API key").fill(key);
    await watched.page.keyboard.press("Enter");
  };
  const menu = () => watched.page.getByRole("navigation").getByRole("link").allTextContents();

  it("shows nothing but the question for one, which it refuses in words", async () => {
    await watched.page.getByText("This service asks for an API key.").waitFor();
    expect(await watched.page.getByRole("navigation").count()).to.equal(0);
    expect(await watched.findBarriers()).to.deep.equal([]);
    await signInWith("wb_wrong");
    await watched.page.getByText("The service does not accept this key.").waitFor();
  });

  it("does not accept one that no header can carry, typed or stored", async () => {
    const { page } = watched;
    await page.reload();
    await page.getByText("This service asks for an API key.").waitFor();
    await signInWith("wb_…");
    await page.getByText("The service does not accept this key.").waitFor();
    await page.evaluate(`sessionStorage.setItem("waybill-key", "wb_…")`);
    await page.reload();
    await page.getByText("The service does not accept this key.").waitFor();
    expect(await page.evaluate("sessionStorage.length")).to.equal(0);
  });

  it("lets a key in that is valid, and knows it after a reload, and not in another tab", async () => {
    await signInWith(whole.text);
    await watched.page.getByText("acme").waitFor();
    expect(await menu()).to.deep.equal([
      "Overview",
      "Jobs",
      "Mailings",
      "Compose",
      "Templates",
      "Schedules",
      "Dead letters",
      "Suppressions",
      "Recipients",
      "Events",
      "Notifications",
      "System",
    ]);
    await watched.page.reload();
    await watched.page.getByText("acme").waitFor();
    const other = await watched.page.context().newPage();
    await other.goto(api.url);
    await other.getByText("This service asks for an API key.").waitFor();
    await other.close();
  });

  it("keeps what was written while the key is refused, for a key of the same tenant", async () => {
    const { page } = watched;
    const refuse = async (): Promise<void> => {
      await page.route("**/api/stats", (route) => route.fulfill({ status: 401, body: "{}" }));
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByLabel("API key").waitFor();
      await page.unroute("**/api/stats");
    };
    const written = async (): Promise<string> => {
      await page.getByRole("link", { name: "Compose" }).click();
      return await page.getByLabel("Recipients: one address").inputValue();
    };
    await page.getByRole("link", { name: "Compose" }).click();
    await page.getByLabel("Recipients: one address").fill("ada@example.com");
    await refuse();
    await signInWith(whole.text);
    expect(await written()).to.equal("ada@example.com");
    await refuse();
    await signInWith(stranger.text);
    expect(await written()).to.equal("");
    await page.getByRole("button", { name: "Sign out" }).click();
    await signInWith(whole.text);
    await page.getByText("acme").waitFor();
  });

  it("forgets it on the way out, and what was written with it", async () => {
    const { page } = watched;
    await page.getByRole("link", { name: "Compose" }).click();
    await page.getByLabel("Recipients: one address").fill("ada@example.com");
    await page.goto(`${api.url}/#/templates?new=true`);
    await page.getByLabel("Name: lower-case").fill("secret-offer");
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("You are signed out.").waitFor();
    expect(await page.evaluate("sessionStorage.length")).to.equal(0);
    await signInWith(stranger.text);
    await page.getByText("globex").waitFor();
    expect(await page.getByLabel("Name: lower-case").inputValue()).to.equal("");
    await page.getByRole("link", { name: "Compose" }).click();
    expect(await page.getByLabel("Recipients: one address").inputValue()).to.equal("");
    await page.getByRole("button", { name: "Sign out" }).click();
  });

  it("does not show what a key's scopes forbid", async () => {
    await signInWith(readOnly.text);
    await watched.page.getByText("acme").waitFor();
    expect(await menu()).to.deep.equal([
      "Overview",
      "Jobs",
      "Mailings",
      "Templates",
      "Schedules",
      "Dead letters",
      "Suppressions",
      "Recipients",
      "Notifications",
      "System",
    ]);
    const forbidden: string[] = [];
    watched.page.on("response", (response) => {
      if (response.status() === 403) forbidden.push(response.url());
    });
    await watched.page.goto(`${api.url}/#/system`);
    await watched.page.getByText("No webhook endpoint yet.").waitFor();
    await watched.page.waitForLoadState("networkidle");
    expect(forbidden).to.deep.equal([]);
    await watched.page.goto(`${api.url}/#/compose`);
    await watched.page.getByText("This page is not available.").waitFor();
  });
});

describe("The dashboard of a service without keys", () => {
  it("goes on without the key of an earlier one, which the service refuses", async () => {
    const settings = { mode: "auto", host: "127.0.0.1", rateLimit: null, mailFrom: "a@example.org" } as const;
    const api = await startApi({
      access: createAccess(ringOf([]), settings),
      dashboard: await readDashboard({ hasMailbox: false, eventTypes: [] }),
    });
    const watched = await openPage(api.url);
    try {
      await watched.page.getByRole("navigation").waitFor();
      await watched.page.evaluate(`sessionStorage.setItem("waybill-key", "${newKey().text}")`);
      await watched.page.reload();
      await watched.page.getByRole("navigation").waitFor();
      expect(await watched.page.evaluate("sessionStorage.length")).to.equal(0);
    } finally {
      await watched.close();
      await api.close();
    }
    expect(watched.sins).to.deep.equal([]);
  });
});
