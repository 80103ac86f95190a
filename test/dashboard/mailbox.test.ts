import { expect } from "chai";
import { readDashboard } from "../../src/dashboard/dashboard.ts";
import type { Mailbox } from "../../src/http/routes/mailbox.ts";
import { openPage, type WatchedPage } from "../support/browser.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const source = [
  "From: Shop <shop@example.org>",
  "To: ada@example.com",
  "Subject: =?utf-8?q?Gr=C3=BC=C3=9Fe_?= =?utf-8?b?PGI+PC9iPg==?=",
  'Content-Type: multipart/alternative; boundary="b"',
  "",
  "--b",
  "Content-Type: text/plain; charset=utf-8",
  "Content-Transfer-Encoding: quoted-printable",
  "",
  "Sch=C3=B6ne Gr=",
  "=C3=BC=C3=9Fe",
  "--b",
  "Content-Type: text/html; charset=utf-8",
  "Content-Transfer-Encoding: base64",
  "",
  Buffer.from(
    '<body onload="parent.document.title=1"><p style="margin-left: 7px">Schöne Grüße</p><script>parent.document.title = "taken"</script><img src="http://tracker.example/1.png"><form action="http://thief.example/"><input name=a></form></body>',
  ).toString("base64"),
  "--b--",
  "",
].join("\r\n");

const mail = {
  id: "7",
  receivedAt: new Date(),
  from: "shop@example.org",
  to: ["ada@example.com"],
  subject: "Grüße <b></b>",
  raw: Buffer.from(source),
};

describe("The page of the mailbox", () => {
  const caught: (typeof mail)[] = [];
  const mailbox: Mailbox = { list: () => caught, find: (id) => caught.find((one) => one.id === id) ?? null };
  let api: RunningApi;
  let watched: WatchedPage;

  before(async () => {
    api = await startApi({ mailbox, dashboard: await readDashboard({ hasMailbox: true, eventTypes: [] }) });
    watched = await openPage(`${api.url}/#/mailbox`);
  });
  after(async () => {
    await watched.close();
    await api.close();
    expect(watched.sins).to.deep.equal([]);
  });

  it("says what to do while it is empty, and then shows what was caught", async () => {
    await watched.page.getByText("No mail yet.").waitFor();
    caught.push(mail);
    await watched.page.getByRole("link", { name: "Grüße <b></b>" }).click();
    await watched.page.getByRole("heading", { name: "Grüße <b></b>" }).waitFor();
  });

  it("shows a mail's HTML as it is styled, runs none of it and fetches nothing for it", async () => {
    const frame = watched.page.frameLocator("iframe.mail");
    const text = frame.getByText("Schöne Grüße");
    await text.waitFor();
    expect(await text.evaluate((p) => p.ownerDocument.defaultView?.getComputedStyle(p).marginLeft)).to.equal("7px");
    expect(await watched.page.title()).to.equal("Mailbox – Waybill");
  });

  it("shows its text and its source", async () => {
    await watched.page.getByRole("tab", { name: "HTML" }).focus();
    await watched.page.keyboard.press("ArrowRight");
    await watched.page.getByRole("tabpanel").getByText("Schöne Grüße").waitFor();
    await watched.page.keyboard.press("ArrowRight");
    await watched.page.getByText("Content-Transfer-Encoding: quoted-printable").waitFor();
  });
});
