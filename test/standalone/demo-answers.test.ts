import { expect } from "chai";
import { createTransport } from "nodemailer";
import { createDemoAnswers } from "../../src/standalone/demo-answers.ts";
import { startMailbox } from "../../src/standalone/mailbox.ts";
import { failureOf } from "../support/failure-of.ts";

describe("The mailbox of the demo", () => {
  it("refuses who does not exist and a domain that takes nothing, and takes the others", () => {
    const answer = createDemoAnswers(() => 0);
    expect(answer("ada@example.com")).to.equal(null);
    expect(answer("Gone-24@example.com")).to.include({ code: 550 });
    expect(answer("ann@old.example.org")).to.include({ code: 554 });
  });

  it("asks for patience at one domain, and takes a mail there now and then", () => {
    let now = 0;
    const answer = createDemoAnswers(() => now);
    const slow = () => answer("ada@slow.example.net")?.code ?? "taken";
    expect([slow(), slow(), slow()]).to.deep.equal(["taken", 450, 450]);
    now += 10_000;
    expect([slow(), slow()]).to.deep.equal(["taken", 450]);
  });

  it("answers so to a sender", async () => {
    const mailbox = await startMailbox(createDemoAnswers());
    const { hostname, port } = new URL(mailbox.smtpUrl);
    const transport = createTransport({ host: hostname, port: Number(port) });
    const send = (to: string) => transport.sendMail({ from: "shop@example.com", to, subject: "Hello", text: "Hello." });
    await send("ada@example.com");
    expect(await failureOf(send("gone-1@example.com"))).to.include({ responseCode: 550 });
    expect(mailbox.list()).to.have.length(1);
    transport.close();
    await mailbox.stop();
  });
});
