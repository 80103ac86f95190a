import { expect } from "chai";
import type { Mailbox } from "../../src/http/routes/mailbox.ts";
import { type RunningApi, startApi } from "../support/running-api.ts";

const raw = Buffer.from("Subject: Gr=?utf-8?q?=C3=BC?=\xdfe\r\n\r\nHello\r\n", "latin1");
const mail = { id: "7", receivedAt: new Date(0), from: "a@b.c", to: ["ada@example.com"], subject: "Grüße", raw };
const mailbox: Mailbox = { list: () => [mail], find: (id) => (id === mail.id ? mail : null) };

describe("The mailbox of a service that delivers no mail", () => {
  let api: RunningApi;

  before(async () => {
    api = await startApi({ mailbox });
  });
  after(() => api.close());

  it("lists what was caught", async () => {
    const { status, body } = await api.ask("GET", "/mailbox");
    expect(status).to.equal(200);
    const receivedAt = "1970-01-01T00:00:00.000Z";
    expect(body).to.deep.equal([{ id: "7", receivedAt, from: "a@b.c", to: ["ada@example.com"], subject: "Grüße" }]);
  });

  it("gives a mail byte for byte", async () => {
    const response = await fetch(`${api.url}/mailbox/7`);
    expect(response.headers.get("Content-Type")).to.equal("message/rfc822");
    expect(Buffer.from(await response.arrayBuffer()).equals(raw)).to.equal(true);
  });

  it("does not know other mails", async () => {
    const { status, body } = await api.ask("GET", "/mailbox/8");
    expect(status).to.equal(404);
    expect(body).to.include({ code: "mail-not-found" });
  });
});
