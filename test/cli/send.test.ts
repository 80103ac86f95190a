import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect } from "chai";
import { CommandFailed, WrongUsage } from "../../src/cli/command-failed.ts";
import { addSendCommand } from "../../src/cli/send.ts";
import { type CommandLine, createCommandLine } from "../support/cli.ts";
import { eventually } from "../support/eventually.ts";
import { failureOf } from "../support/failure-of.ts";
import { type Stage, setStage } from "../support/stage.ts";
import { startWaybill, type Waybill } from "../support/waybill.ts";

// biome-ignore lint/suspicious/noExplicitAny: the tests look into answers whose shape is what they test.
type Json = any;

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

  const file = async (name: string, content: string | Buffer): Promise<string> => {
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
  const find = async (id: string): Promise<Json> => (await fetch(`${service.url}/api/mailings/${id}`)).json();
  const rawTo = (address: string): string =>
    stage.mailServer.mails.find(({ to }) => to.includes(address))?.raw.toString() ?? "";
  const mailedTo = (address: string): number => stage.mailServer.mails.filter(({ to }) => to.includes(address)).length;

  it("mails no letter that is not UTF-8, of which every letter beyond ASCII would arrive as a question mark", async () => {
    const csv = await file("reader.csv", "email\nreader@example.com\n");
    const letter = await file("latin1.html", Buffer.from("<p>Hello</p>\n<p>Gr\u00fc\u00dfe</p>", "latin1"));
    const sending = commandLine.run("send", "--subject", "News", "--html", letter, "--csv", csv, "--dry-run");
    const failure = await failureOf(sending);
    expect(failure).to.be.instanceOf(WrongUsage);
    expect(failure.message).to.equal(`${letter} cannot be read: line 2 is not UTF-8`);
  });

  it("mails every row once, with its own variables, in one mailing of several parts", async function () {
    this.timeout(120_000);
    const rows = people(1100).map((email, index) => `${email},Reader ${index}`);
    const csv = await file("many.csv", ["email,name", ...rows].join("\n"));
    const sent = await sendJson(csv, "--wait");
    expect(sent).to.deep.include({ recipients: 1100, duplicates: 0, isRepeat: false, status: "completed" });
    expect(sent.progress).to.include({ total: 1100, sent: 1100, pending: 0 });
    expect(await find(sent.mailing)).to.include({ name: "many.csv", status: "completed", parts: 2 });
    expect(new Set(stage.mailServer.mails.flatMap(({ to }) => to)).size).to.equal(1100);
    expect(rawTo("reader7@example.com")).to.include("Subject: News for Reader 7\r\n");

    const again = await sendJson(csv, "--wait");
    expect(again).to.deep.include({ mailing: sent.mailing, recipients: 1100, isRepeat: true, status: "completed" });
    expect(mailedTo("reader7@example.com")).to.equal(1);
  });

  it("goes on where it was stopped, and mails nobody twice", async function () {
    this.timeout(120_000);
    const rows = people(3000).map((email) => `resumed-${email},R`);
    const csv = await file("resumed.csv", ["email,name", ...rows].join("\n"));
    const stopping = new AbortController();
    const stopped = createCommandLine(
      [addSendCommand],
      { WAYBILL_URL: service.url },
      { interrupted: stopping.signal, onTold: () => stopping.abort() },
    );
    const args = ["send", "--subject", "News for {{ name }}", "--html", join(stage.folder, "news.html"), "--csv", csv];
    const failure = await failureOf(stopped.run(...args));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.match(/^Interrupted: [\d,]+ of 3,000 recipients uploaded\. Run the same command again/);
    const sent = await sendJson(csv, "--wait");
    expect(sent.progress).to.include({ sent: 3000, total: 3000 });
    const addresses = stage.mailServer.mails.flatMap(({ to }) => to);
    const resumed = addresses.filter((address) => address.startsWith("resumed-"));
    expect([resumed.length, new Set(resumed).size]).to.deep.equal([3000, 3000]);
  });

  it("runs twice at once, and makes one mailing that mails everybody once", async function () {
    this.timeout(120_000);
    const rows = people(3000).map((email) => `both-${email},B`);
    const csv = await file("both.csv", ["email,name", ...rows].join("\n"));
    const [one, other] = await Promise.all([sendJson(csv, "--wait"), sendJson(csv, "--wait")]);
    expect(one.mailing).to.equal(other.mailing);
    for (const sent of [one, other]) expect(sent).to.deep.include({ recipients: 3000, status: "completed" });
    const addresses = stage.mailServer.mails.flatMap(({ to }) => to).filter((address) => address.startsWith("both-"));
    expect([addresses.length, new Set(addresses).size]).to.deep.equal([3000, 3000]);
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
    expect(printed.join("\n")).to.include("To: Dora <dry@example.com>").and.to.include("Hello Dora");
    expect(told.join("\n")).to.include("the first of 1 row. Nothing was sent.");
    expect(mailedTo("dry@example.com")).to.equal(0);
  });

  it("names the lines without a usable address, and sends nothing", async () => {
    const csv = await file("bad.csv", "email,name\ngood@example.com,G\nbad@,B\n,E\n");
    const failure = await failureOf(send(csv));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.include("2 rows").and.include('line 3: "bad@"').and.include("line 4");
    expect(mailedTo("good@example.com")).to.equal(0);
  });

  const unusable: readonly (readonly [what: string, content: string | Buffer, said: string])[] = [
    ["without a column of addresses", "mail;name\na@example.com;A\n", 'no column "email"'],
    ["without a row", "email,name\n", "no recipients"],
    ["with a row that is too short", "email,name\na@example.com\n", "cannot be read"],
    ["with an open quote", 'email,name\na@example.com,"A\n', "cannot be read"],
    ["that is not UTF-8", Buffer.from("email,name\na@example.com,M\xfcller\n", "latin1"), "line 2 is not UTF-8"],
  ];
  for (const [what, content, said] of unusable) {
    it(`says what is wrong with a file ${what}`, async () => {
      const failure = await failureOf(send(await file("unusable.csv", content)));
      expect(failure).to.be.instanceOf(CommandFailed);
      expect(failure.message).to.include(said);
    });
  }

  it("names the lines for which the letter cannot be filled in, and sends nothing", async () => {
    const csv = await file(
      "unfit.csv",
      'email,name\n\nfit@example.com,"F\nG"\nunfit@example.com,\nlast@example.com,L\n',
    );
    const letter = join(stage.folder, "strict.html");
    await writeFile(letter, "{% if name == '' %}{{ missing }}{% endif %}");
    const args = ["send", "--subject", "S", "--html", letter, "--csv", csv];
    const failure = await failureOf(commandLine.run(...args));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.match(
      /unfit\.csv has 1 row that cannot be mailed; nothing was sent:\n {2}line 5: .*missing/,
    );
    const [id = ""] = /(?<=mailings start )\S+/.exec(failure.message) ?? [];
    expect(await find(id)).to.deep.include({ status: "draft" });
    expect((await failureOf(commandLine.run(...args))).message).to.equal(failure.message);
    expect(mailedTo("fit@example.com")).to.equal(0);

    await fetch(`${service.url}/api/mailings/${id}/start`, { method: "POST" });
    const { printed } = await commandLine.run(...args, "--wait", "--json");
    expect(JSON.parse(printed.join(""))).to.deep.include({ mailing: id, recipients: 2, isRepeat: true });
    expect([mailedTo("fit@example.com"), mailedTo("unfit@example.com")]).to.deep.equal([1, 0]);
  });

  it("makes one mailing where answers are lost, or say 503 of what was done all the same", async () => {
    const csv = await file("lossy.csv", "email,name\nlossy@example.com,Lou");
    const asked = new Map<string, number>();
    const door = createServer((request, response) => {
      forward(service.url, request).then(
        ({ status, headers, body }) => {
          const what = `${request.method} ${request.url?.replace(/[0-9a-f-]{36}/, "ID")}`;
          const before = asked.get(what) ?? 0;
          asked.set(what, before + 1);
          if (request.method === "GET" || before > 1) response.writeHead(status, headers).end(body);
          else if (before === 0) request.socket.destroy();
          else response.writeHead(503, { "Content-Type": "application/problem+json" }).end("{}");
        },
        () => request.socket.destroy(),
      );
    }).listen(0, "127.0.0.1");
    await once(door, "listening");
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    const lossy = createCommandLine([addSendCommand], { WAYBILL_URL: url });
    const letter = ["--subject", "News", "--html", join(stage.folder, "news.html"), "--csv", csv];
    const { printed } = await lossy.run("send", ...letter, "--wait", "--json");
    expect(JSON.parse(printed.join("\n"))).to.deep.include({ recipients: 1, status: "completed" });
    for (const what of ["POST /api/mailings", "PUT /api/mailings/ID/recipients", "POST /api/mailings/ID/start"]) {
      expect(asked.get(what), what).to.equal(3);
    }
    expect(mailedTo("lossy@example.com")).to.equal(1);
    door.close();
  }).timeout(60_000);

  it("starts no mailing again that was taken back before it had the answer", async () => {
    const csv = await file("taken-back.csv", "email,name\ntaken-back@example.com,T");
    let starts = 0;
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const { url = "" } = request;
      const { status, headers, body } = await forward(service.url, request);
      if (url.endsWith("/start")) starts += 1;
      if (!url.endsWith("/start") || starts > 1) return response.writeHead(status, headers).end(body);
      await fetch(service.url + url.replace("/start", "/undo"), { method: "POST" });
      return request.socket.destroy();
    };
    const door = createServer((request, response) => void answer(request, response)).listen(0, "127.0.0.1");
    await once(door, "listening");
    const url = `http://127.0.0.1:${(door.address() as AddressInfo).port}`;
    const lossy = createCommandLine([addSendCommand], { WAYBILL_URL: url });
    const letter = ["--subject", "News", "--html", join(stage.folder, "news.html"), "--csv", csv];
    const failure = await failureOf(lossy.run("send", ...letter, "--undo-for", "600"));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.match(/taken back by anonymous.*waybill mailings start/);
    expect(starts).to.equal(1);
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

  it("takes a stored template instead of a letter, the version that was meant the first time", async () => {
    const put = (subject: string) =>
      fetch(`${service.url}/api/templates/digest`, {
        method: "PUT",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ subject, body: "<p>Dear {{ name }}</p>" }),
      });
    await put("First for {{ name }}");
    const csv = await file("template.csv", "email,name\ntemplate@example.com,Tom\n");
    const withTemplate = async (name: string, ...more: readonly string[]) =>
      (await commandLine.run("send", "--template", name, "--csv", csv, ...more)).printed.join("\n");
    expect(await withTemplate("digest", "--dry-run")).to.include("Subject: First for Tom");
    const sent = JSON.parse(await withTemplate("digest", "--wait", "--json"));
    await put("Second for {{ name }}");
    expect(JSON.parse(await withTemplate("digest", "--wait", "--json"))).to.include({ mailing: sent.mailing });
    expect(mailedTo("template@example.com")).to.equal(1);
    expect(rawTo("template@example.com")).to.include("Subject: First for Tom\r\n");
    await withTemplate("digest@2", "--wait");
    expect(mailedTo("template@example.com")).to.equal(2);
    expect((await failureOf(withTemplate("digest@9"))).message).to.include("expected a version from 1 to 2");
    expect(await failureOf(send(csv, "--template", "digest"))).to.be.instanceOf(WrongUsage);
  });

  it("leaves a draft, tests it, and starts it with the same command", async () => {
    const csv = await file("draft.csv", "email,name\ndraft@example.com,Dan\n");
    const draft = await sendJson(csv, "--draft");
    expect(draft).to.include({ recipients: 1, status: "draft" });
    expect(await sendJson(csv, "--draft")).to.include({ mailing: draft.mailing, recipients: 1, status: "draft" });
    const test = await sendJson(csv, "--test", "me@example.com, you@example.com");
    expect(test).to.include({ mailingId: draft.mailing, recipients: 2 });
    const { printed } = await send(csv, "--test", "me@example.com, you@example.com");
    expect(printed.join("")).to.match(/^Test of mailing \S+ to 2 recipients: job \S+$/);
    await eventually(() => expect(rawTo("you@example.com")).to.include("Subject: News for Dan\r\n"));
    expect(mailedTo("draft@example.com")).to.equal(0);
    expect(await sendJson(csv, "--wait")).to.include({ mailing: draft.mailing, status: "completed" });
    expect(await sendJson(csv, "--draft")).to.include({ mailing: draft.mailing, status: "completed" });
    expect(mailedTo("draft@example.com")).to.equal(1);
    expect(await failureOf(send(csv, "--draft", "--wait"))).to.be.instanceOf(WrongUsage);
  });

  it("starts at a time, and not again at another", async () => {
    const csv = await file("later.csv", "email,name\nlater@example.com,L\n");
    const at = "2099-01-01T00:00:00.000Z";
    const { printed } = await send(csv, "--scheduled-at", at, "--id", "later");
    expect(printed.join("")).to.match(/^Mailing \S+: 1 recipient, scheduled\.$/);
    const again = await sendJson(csv, "--id", "later");
    expect(again).to.include({ isRepeat: true, status: "scheduled" });
    expect(await find(again.mailing)).to.include({ scheduledAt: at });
    expect(await failureOf(send(csv, "--scheduled-at", "soon"))).to.be.instanceOf(WrongUsage);
  });

  it("can be taken back for a while, and is not started again by the same command", async () => {
    const csv = await file("undone.csv", "email,name\nundone@example.com,U\n");
    const options = ["--undo-for", "600", "--rate", "1000", "--window", "mon-wed,sun 00:00-24:00 Europe/Berlin"];
    const { printed, told } = await send(csv, ...options);
    const [id = ""] = /(?<=mailings undo )\S+/.exec(told.join("\n")) ?? [];
    expect(printed.join("")).to.equal(`Mailing ${id}: 1 recipient, scheduled.`);
    expect((await find(id)).rate).to.equal(1000);
    expect((await find(id)).window.days).to.deep.equal(["mon", "tue", "wed", "sun"]);
    const reason = JSON.stringify({ reason: "the price is wrong" });
    const headers = { "Content-Type": "application/json" };
    await fetch(`${service.url}/api/mailings/${id}/undo`, { method: "POST", headers, body: reason });
    const failure = await failureOf(send(csv, ...options));
    expect(failure).to.be.instanceOf(CommandFailed);
    expect(failure.message).to.equal(
      `The start of the mailing was taken back by anonymous: the price is wrong. To start it after all: waybill mailings start ${id}`,
    );
    expect(await find(id)).to.include({ status: "draft" });
    for (const wrong of [
      ["--undo-for", "soon"],
      ["--rate", "-1"],
      ["--window", "monday"],
      ["--window", "mon,tue-xyz 08:00-18:00 UTC"],
    ]) {
      expect(await failureOf(send(csv, ...wrong)), wrong.join(" ")).to.be.instanceOf(WrongUsage);
    }
  });

  it("goes out faster and faster, and stops by itself, as the options say", async () => {
    const csv = await file("brakes.csv", "email,name\nbrakes@example.com,B\n");
    const brakes = ["--ramp-up", "1000x1.5", "--stop-when", "failures 5%, bounces 0.7%, complaints 0.1% after 500"];
    const { mailing } = await sendJson(csv, "--draft", ...brakes);
    expect(await find(mailing)).to.deep.include({
      rampUp: { firstHour: 1000, growth: 1.5 },
      stopWhen: { failureRate: 0.05, bounceRate: 0.007, complaintRate: 0.001, after: 500 },
    });
    const other = await sendJson(csv, "--draft", "--id", "complaints", "--stop-when", "complaints 1%");
    expect((await find(other.mailing)).stopWhen).to.include({ complaintRate: 0.01, after: 100 });
    for (const wrong of [
      ["--ramp-up", "1000"],
      ["--ramp-up", "fast"],
      ["--stop-when", "5%"],
      ["--stop-when", "failures 5"],
      ["--stop-when", "failures 5%, failures 6%"],
      ["--stop-when", "failures 5% after all"],
    ]) {
      expect(await failureOf(send(csv, ...wrong)), wrong.join(" ")).to.be.instanceOf(WrongUsage);
    }
  });

  it("says which mailing did not reach everybody, and what to do", async () => {
    stage.mailServer.answerRecipient("full@example.com", { code: 552, text: "5.2.2 Mailbox full" });
    const csv = await file("full.csv", "email,name\nfull@example.com,F\nfine@example.com,G\nwell@example.com,W\n");
    const failure = await failureOf(send(csv, "--wait"));
    const [id] = /(?<=mailings retry )\S+/.exec(failure.message) ?? [];
    expect(failure.message).to.equal(
      `The mailing is completed-with-failures.\nNot reached: waybill mailings recipients ${id} --status failed\nRetry those: waybill mailings retry ${id}`,
    );
    expect(commandLine.last().printed).to.deep.equal([`Mailing ${id}: 3 recipients, processing.`, "2 sent, 1 failed"]);
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
    expect(told.join("\n")).to.match(/\[#{24}\] 1 of 1 recipients uploaded/);
  });
});

/** The answer of the service to a request that another server received first. */
async function forward(service: string, request: IncomingMessage) {
  const sent: Buffer[] = [];
  for await (const bytes of request) sent.push(bytes as Buffer);
  const { method = "GET", url = "/", headers: given } = request;
  const names = ["content-type", "idempotency-key", "accept", "min-sequence"];
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
