import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addSendCommand } from "../../src/cli/send.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { failureOf } from "../support/failure-of.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

const people = (count: number): string[] => Array.from({ length: count }, (_, index) => `reader${index}@example.com`);

describe("waybill send", () => {
  let stage: Stage;
  let service: Waybill;
  let commandLine: CommandLine;

  before(async () => {
    stage = await setStage();
    service = await startWaybill(stage.surroundings);
    commandLine = createCommandLine([addSendCommand], { WAYBILL_URL: service.url });
    await writeFile(join(stage.folder, "news.html"), "<p>Hello {{ name }}</p>");
  });
  after(async () => {
    await service?.stop();
    await stage?.cleanUp();
  });

  const file = async (name: string, content: string): Promise<string> => {
    await writeFile(join(stage.folder, name), content);
    return join(stage.folder, name);
  };
  const send = (csv: string, ...more: readonly string[]) =>
    commandLine.run(
      "send",
      "--subject",
      "News for {{ name }}",
      "--html",
      join(stage.folder, "news.html"),
      "--csv",
      csv,
      ...more,
    );
  const sendJson = async (csv: string, ...more: readonly string[]) =>
    JSON.parse((await send(csv, ...more, "--json")).printed.join("\n"));
  const rawTo = (address: string): string =>
    stage.mailServer.mails.find(({ to }) => to.includes(address))?.raw.toString() ?? "";
  const mailedTo = (address: string): number => stage.mailServer.mails.filter(({ to }) => to.includes(address)).length;

  it("mails every row once, with its own variables, in jobs of a thousand", async function () {
    this.timeout(120_000);
    const rows = people(1100).map((email, index) => `${email},Reader ${index}`);
    const csv = await file("many.csv", ["email,name", ...rows].join("\n"));
    const sent = await sendJson(csv, "--wait");
    expect(sent).to.deep.include({ recipients: 1100, duplicates: 0, repeated: 0, statuses: { completed: 2 } });
    expect(sent.jobs).to.have.lengthOf(2);
    expect(sent.progress).to.include({ total: 1100, sent: 1100, pending: 0 });
    expect(new Set(stage.mailServer.mails.flatMap(({ to }) => to)).size).to.equal(1100);
    expect(rawTo("reader7@example.com")).to.include("Subject: News for Reader 7\r\n");

    const again = await sendJson(csv, "--wait");
    expect(again).to.deep.include({ jobs: sent.jobs, repeated: 2 });
    expect(mailedTo("reader7@example.com")).to.equal(1);
  });

  it("goes on where it was stopped, and mails nobody twice", async function () {
    this.timeout(120_000);
    const rows = people(1100).map((email) => `resumed-${email},R`);
    const csv = await file("resumed.csv", ["email,name", ...rows].join("\n"));
    const stopping = new AbortController();
    const stopped = createCommandLine(
      [addSendCommand],
      { WAYBILL_URL: service.url },
      { interrupted: stopping.signal, onTold: () => stopping.abort() },
    );
    const args = ["send", "--subject", "News for {{ name }}", "--html", join(stage.folder, "news.html"), "--csv", csv];
    expect(await failureOf(stopped.run(...args))).to.be.instanceOf(CommandFailed);
    const sent = await sendJson(csv, "--wait");
    expect(sent).to.include({ repeated: 1 });
    expect(sent.progress).to.include({ sent: 1100 });
    const addresses = stage.mailServer.mails.flatMap(({ to }) => to);
    const resumed = addresses.filter((address) => address.startsWith("resumed-"));
    expect([resumed.length, new Set(resumed).size]).to.deep.equal([1100, 1100]);
  });

  it("mails an address that stands in the file twice once", async () => {
    const csv = await file(
      "twice.csv",
      "name,Email\nAda,ada@example.com\nAda again,ADA@example.com\nBob,bob@example.com\n",
    );
    const sent = await sendJson(csv, "--wait");
    expect(sent).to.include({ recipients: 2, duplicates: 1 });
    expect(mailedTo("ada@example.com")).to.equal(1);
  });

  it("reads quoted cells, another delimiter, another column, and a byte order mark", async () => {
    const csv = await file("german.csv", '\uFEFFAdresse;name\r\ncarla@example.com;"Carla ""C."" Müller; Köln"\r\n');
    await send(csv, "--email-column", "adresse", "--delimiter", ";", "--wait");
    expect(rawTo("carla@example.com")).to.include("Hello Carla");
  });

  it("shows the first mail and sends nothing with --dry-run", async () => {
    const csv = await file("dry.csv", "email,name\ndry@example.com,Dora\n");
    const { printed, told } = await send(csv, "--dry-run");
    expect(printed.join("\n")).to.include("To: dry@example.com").and.to.include("Hello Dora");
    expect(told.join("\n")).to.include("Nothing was sent");
    expect(mailedTo("dry@example.com")).to.equal(0);
  });

  it("names the lines without a usable address, and sends nothing", async () => {
    const csv = await file("bad.csv", "email,name\ngood@example.com,G\nbad@,B\n,E\n");
    const failure = await failureOf(send(csv));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.include("2 rows").and.include('line 3: "bad@"').and.include("line 4");
    expect(mailedTo("good@example.com")).to.equal(0);
  });

  const unusable: readonly (readonly [what: string, content: string, said: string])[] = [
    ["without a column of addresses", "mail;name\na@example.com;A\n", 'no column "email"'],
    ["without a row", "email,name\n", "no recipients"],
    ["with a row that is too short", "email,name\na@example.com\n", "cannot be read"],
    ["with an open quote", 'email,name\na@example.com,"A\n', "cannot be read"],
  ];
  for (const [what, content, said] of unusable) {
    it(`says what is wrong with a file ${what}`, async () => {
      const failure = await failureOf(send(await file("unusable.csv", content)));
      expect(failure).to.be.instanceOf(CommandFailed);
      expect(failure.message).to.include(said);
    });
  }

  it("makes each job once where answers are lost, or say 503 of a job that was made all the same", async () => {
    const csv = await file("lossy.csv", "email,name\nlossy@example.com,Lou");
    const troubles = ["lost", "503"];
    const door = createServer((request, response) => {
      forward(service.url, request).then(
        ({ status, headers, body }) => {
          const trouble = request.method === "POST" ? troubles.shift() : undefined;
          if (trouble === "lost") request.socket.destroy();
          else if (trouble === "503") response.writeHead(503, { "Content-Type": "application/problem+json" }).end("{}");
          else response.writeHead(status, headers).end(body);
        },
        () => request.socket.destroy(),
      );
    }).listen(0, "127.0.0.1");
    await once(door, "listening");
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    const lossy = createCommandLine([addSendCommand], { WAYBILL_URL: url });
    const letter = ["--subject", "News", "--html", join(stage.folder, "news.html"), "--csv", csv];
    const { printed } = await lossy.run("send", ...letter, "--wait", "--json");
    expect(JSON.parse(printed.join("\n"))).to.deep.include({ recipients: 1, statuses: { completed: 1 } });
    expect(troubles).to.deep.equal([]);
    expect(mailedTo("lossy@example.com")).to.equal(1);
    door.close();
  }).timeout(60_000);

  it("refuses another letter under the id of a mailing", async () => {
    const csv = await file("named.csv", "email,name\nnamed@example.com,N\n");
    await send(csv, "--id", "november", "--wait");
    const other = await file("named.csv", "email,name\nnamed@example.com,N\nmore@example.com,M\n");
    const failure = await failureOf(send(other, "--id", "november"));
    expect(failure.message).to.include("--id");
    expect(mailedTo("more@example.com")).to.equal(0);
    await send(other, "--id", "december", "--wait");
    expect([mailedTo("named@example.com"), mailedTo("more@example.com")]).to.deep.equal([2, 1]);
  });

  it("says what the service refuses, in its words", async () => {
    const csv = await file("refused.csv", "email\nr@example.com\n");
    const failure = await failureOf(send(csv, "--priority", "urgent"));
    expect(failure.message).to.include("priority is").and.include("high, normal, low");
  });

  it("says what a file is missing, and what no option means", async () => {
    const csv = await file("fine.csv", "email\nr@example.com\n");
    const nothing = createCommandLine([addSendCommand], { WAYBILL_URL: service.url });
    expect(await failureOf(nothing.run("send", "--subject", "S", "--csv", csv))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(send(csv, "--text", join(stage.folder, "none.txt")))).to.be.instanceOf(WrongUsage);
    expect(await failureOf(send(csv, "--delimiter", "ab"))).to.be.instanceOf(WrongUsage);
    expect((await failureOf(send(join(stage.folder, "none.csv")))).message).to.include("none.csv");
  });

  it("draws a bar on a terminal", async () => {
    const csv = await file("bar.csv", "email,name\nbar@example.com,B\n");
    const terminal = createCommandLine([addSendCommand], { WAYBILL_URL: service.url }, { isTerminal: true });
    const args = ["send", "--subject", "S", "--html", join(stage.folder, "news.html"), "--csv", csv, "--wait"];
    const { told } = await terminal.run(...args);
    expect(told).to.include.members([""]);
    expect(told.join("\n")).to.match(/\[#{24}\] 1 of 1 recipients accepted/);
  });
});

/** The answer of the service to a request that another server received first. */
async function forward(service: string, request: IncomingMessage) {
  const sent: Buffer[] = [];
  for await (const bytes of request) sent.push(bytes as Buffer);
  const { method = "GET", url = "/", headers: given } = request;
  const names = ["content-type", "idempotency-key", "accept"];
  const headers = Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])));
  const answer = await fetch(service + url, {
    method,
    headers: headers as Record<string, string>,
    ...(method === "GET" ? {} : { body: Buffer.concat(sent) }),
  });
  const kept = ["content-type", "idempotency-replayed", "event-sequence", "location", "read-sequence"];
  return {
    status: answer.status,
    headers: Object.fromEntries([...answer.headers].filter(([name]) => kept.includes(name))),
    body: Buffer.from(await answer.arrayBuffer()),
  };
}
