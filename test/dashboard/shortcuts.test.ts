import { expect } from "chai";
import type { Page } from "playwright-core";
import { openPage, phone, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";

describe("The keyboard shortcuts of the dashboard", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;

  before(async () => {
    stage = await dashboardStage();
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    for (const subject of ["Shortcut one", "Shortcut two"]) {
      await stage.api.create({ subject, body: "x", recipients: ["ada@example.com"], scheduledAt });
    }
    watched = await openPage(`${stage.url}/#/jobs?q=shortcut`);
    await watched.page.getByText("2 in all").waitFor();
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  /** One right after the other: those that belong together must not come too late on a busy machine. */
  const press = (...keys: readonly string[]) => Promise.all(keys.map((key) => watched.page.keyboard.press(key)));
  const focused = (): Promise<unknown> =>
    watched.page.evaluate("document.activeElement.textContent || document.activeElement.type");
  const heading = (name: string) => watched.page.getByRole("heading", { name, exact: true }).waitFor();

  it("move between the rows, and open one", async () => {
    await press("j");
    expect(await focused()).to.equal("Shortcut two");
    await press("j", "j");
    expect(await focused()).to.equal("Shortcut one");
    await press("k", "Enter");
    await heading("Shortcut two");
    await watched.page.goBack();
    await watched.page.getByText("2 in all").waitFor();
  });

  it("lead to the search, where they are letters like others", async () => {
    await press("/");
    expect(await focused()).to.equal("search");
    await press("g", "s");
    expect(await watched.page.getByLabel("Subject or name").inputValue()).to.equal("shortcutgs");
    await watched.page.getByLabel("Subject or name").fill("shortcut");
    await watched.page.getByRole("heading", { name: "Jobs" }).click();
  });

  it("lead to each page, and are listed", async () => {
    await press("g", "s");
    await heading("System");
    await press("?");
    const dialog = watched.page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await dialog.getByText("Dead letters").waitFor();
    expect(await watched.findBarriers()).to.deep.equal([]);
    const keys = await dialog.locator("dt").allTextContents();
    expect(new Set(keys)).to.have.length(keys.length);
    // Not behind a dialog.
    await press("g", "o");
    await press("Escape");
    await dialog.waitFor({ state: "detached" });
    await heading("System");
  });

  it("are turned off for good in a browser where they are in the way", async () => {
    const { page } = watched;
    await press("?");
    await page.getByLabel("Use these keys in this browser").uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.reload();
    await heading("System");
    await press("g", "o", "?");
    await page.getByLabel("Use these keys in this browser").check();
    await page.getByRole("button", { name: "Close" }).click();
    await heading("System");
    await press("g", "o");
    await heading("Overview");
  });
});

describe("The dashboard on a phone", () => {
  it("begins a list with its rows: filters and actions are folded", async () => {
    const stage = await dashboardStage();
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString();
    await stage.api.create({ subject: "On a phone", body: "x", recipients: ["ada@example.com"], scheduledAt });
    const watched = await openPage(`${stage.url}/#/jobs`, phone);
    const { page } = watched;
    const link = page.getByRole("link", { name: "On a phone" });
    await link.waitFor();
    expect((await link.boundingBox())?.y).to.be.lessThan(phone.viewport.height / 2);
    expect(await page.getByLabel("Subject or name").isVisible()).to.equal(false);
    await page.getByText("Filters and actions").click();
    await page.getByLabel("Subject or name").fill("on a phone");
    await page.getByText("1 in all").waitFor();
    expect(await page.getByLabel("Subject or name").isVisible()).to.equal(true);
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const currentPage = async (page: Page): Promise<{ readonly isShown: boolean }> => {
    const { x, width } = (await page.locator("nav [aria-current]").boundingBox()) ?? { x: -1, width: 0 };
    return { isShown: x >= 0 && x + width <= phone.viewport.width };
  };

  it("shows which page is open, also one at the end of the row", async () => {
    const { url } = await dashboardStage();
    const { page, close } = await openPage(`${url}/#/jobs`, phone);
    await page.getByRole("link", { name: "System" }).click();
    await page.getByRole("heading", { name: "System" }).waitFor();
    await eventually(async () => expect(await currentPage(page)).to.deep.equal({ isShown: true }));
    await page.goto(`${url}/#/jobs`);
    await eventually(async () => expect(await currentPage(page)).to.deep.equal({ isShown: true }));
    await close();
  });

  it("still shows which page is open once the number of unread notifications came", async () => {
    const { url, api } = await dashboardStage();
    await api.ended(await api.create({ subject: "Unread", body: "x", recipients: ["ada@example.com"] }));
    await eventually(async () =>
      expect((await api.get("/api/notifications?unread=true")).body).to.have.nested.property("data[0]"),
    );
    const { page, close } = await openPage(`${url}/#/jobs`, phone);
    const number = page.getByRole("navigation").locator(".unread");
    let isHeld = true;
    await page.route("**/api/notifications?*", async (route) => {
      await eventually(() => expect(isHeld).to.equal(false));
      await route.continue();
    });
    await page.reload();
    await page.getByRole("link", { name: "System" }).click();
    await eventually(async () => expect(await currentPage(page)).to.deep.equal({ isShown: true }));
    expect(await number.count()).to.equal(0);
    isHeld = false;
    await number.waitFor();
    await eventually(async () => expect(await currentPage(page)).to.deep.equal({ isShown: true }));
    await close();
  });
});
