import { expect } from "chai";
import type { Locator } from "playwright-core";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type DashboardStage, dashboardStage } from "../support/dashboard-stage.ts";
import { eventually } from "../support/eventually.ts";

describe("The page of notifications", () => {
  let stage: DashboardStage;
  let watched: WatchedPage;
  const subjects = ["Told first", "Told second", "Told third"];

  before(async () => {
    stage = await dashboardStage();
    stage.mailServer.answerRecipient("full@example.com", { code: 552, text: "5.2.2 Mailbox full" });
    const jobs = await Promise.all(
      subjects.map((subject, index) =>
        stage.api.create({ subject, body: "x", recipients: [index === 2 ? "full@example.com" : "ada@example.com"] }),
      ),
    );
    for (const id of jobs) await stage.api.ended(id);
    watched = await openPage(`${stage.url}/#/notifications`);
  });
  after(async () => {
    await watched.close();
    expect(watched.sins).to.deep.equal([]);
  });

  const rowOf = (index: number): Locator => watched.page.getByRole("row", { name: subjects[index] ?? "none" });
  const unread = async (): Promise<string> => {
    const { body } = await stage.api.get("/api/notifications?unread=true&limit=100");
    const { data, nextCursor } = body as { data: readonly unknown[]; nextCursor: number | null };
    return nextCursor === null ? String(data.length) : "100+";
  };
  const menuCountsUnread = (): Promise<void> =>
    eventually(async () => {
      const count = await unread();
      const menu = await watched.page
        .getByRole("navigation")
        .getByRole("link", { name: "Notifications" })
        .textContent();
      expect(menu?.replace("Notifications", "").trim()).to.equal(count === "0" ? "" : count);
    });

  it("tells what ended of the jobs that one asked for, and how", async () => {
    await rowOf(0).getByText("completed").waitFor();
    await rowOf(2).getByText("failed", { exact: true }).waitFor();
    await rowOf(0).getByRole("img", { name: "1 sent of 1" }).waitFor();
    await menuCountsUnread();
    expect(await watched.findBarriers()).to.deep.equal([]);
  });

  it("marks one as read with the keyboard, and keeps it among all of them", async () => {
    await rowOf(0).getByRole("button", { name: "Mark as read" }).focus();
    await watched.page.keyboard.press("Enter");
    await rowOf(0).waitFor({ state: "detached" });
    await menuCountsUnread();
    await watched.page.getByLabel("Show").selectOption({ label: "all" });
    await rowOf(0).locator("time").nth(1).waitFor();
    await rowOf(1).getByRole("button", { name: "Mark as read" }).waitFor();
    expect(await rowOf(0).getByRole("button").count()).to.equal(0);
    await watched.page.reload();
    await rowOf(0).waitFor();
  });

  it("marks all as read in one call", async () => {
    await watched.page.getByLabel("Show").selectOption({ label: "unread" });
    await rowOf(1).waitFor();
    await watched.page.getByRole("button", { name: "Mark all as read" }).click();
    await rowOf(1).waitFor({ state: "detached" });
    await rowOf(2).waitFor({ state: "detached" });
    await menuCountsUnread();
  });

  it("leads to the job", async () => {
    await watched.page.getByLabel("Show").selectOption({ label: "all" });
    await watched.page.getByRole("link", { name: "Told third" }).click();
    await watched.page.getByRole("heading", { name: "Told third" }).waitFor();
  });
});
