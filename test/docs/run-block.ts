import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { expect } from "chai";
import mysql from "mysql2/promise";
import { eventually } from "../support/eventually.ts";
import type { Block } from "./blocks.ts";
import { databaseOf, type Reader } from "./reader.ts";
import type { Ran, Running } from "./session.ts";
import { expectPrinted, readSteps } from "./transcript.ts";

/** How long a read model, a mail or a whole system may take. */
const patienceMs = 90_000;

/** As the service asks for with `Retry-After`. */
const repeatAfterMs = 2_000;
const mostRepeats = 2;

/** Does what a block says; throws where it fails, or prints something else. What it leaves running is put into `beside`. */
export async function runBlock(block: Block, reader: Reader, beside: Running[]): Promise<void> {
  const { directive, language } = block;
  if (directive === null) throw new Error(`Nothing says how a block of "${language}" is run, or why it is not`);
  switch (directive.kind) {
    case "plain":
      return runOnce(block, reader, 0);
    case "exits":
      return runOnce(block, reader, directive.code);
    case "eventually":
      return eventually(() => runOnce(block, reader, 0, { isStrict: false }), patienceMs);
    case "until":
      return (await startBlock(block, reader, directive.text)).interrupt();
    case "instead":
      for (let running = beside.pop(); running !== undefined; running = beside.pop()) await running.interrupt();
      beside.push(await startBlock(block, reader, directive.text));
      return;
    case "beside":
      beside.push(await startBlock(block, reader, directive.text));
      return;
    case "node":
    case "tsx":
      return runProgram(block, reader, directive.kind);
    case "mysql":
      return runStatements(block, reader);
    case "save":
      return writeFile(join(reader.folder, directive.file), reader.toRun(block.text));
    case "elsewhere":
    case "not-run":
      return;
  }
}

async function runOnce(
  { language, text }: Block,
  { session, minding, toRun, toShow, hasSameDigests }: Reader,
  code: number,
  { isStrict } = { isStrict: code === 0 },
): Promise<void> {
  if (language === "json") {
    JSON.parse(text);
    return;
  }
  if (language !== "console") {
    expectExit(await session.run(minding.httpErrors + toRun(text), { isStrict }), code);
    return;
  }
  const steps = readSteps(text);
  for (const [index, { command, expected }] of steps.entries()) {
    // A refusal is an answer, too, where it is shown.
    const ran = await repeating(expected, () => session.run(minding.nothing + toRun(command), { isStrict: false }));
    expectExit(ran, index === steps.length - 1 ? code : 0);
    expectPrinted(toShow(ran.printed), expected, hasSameDigests);
  }
}

/** On a machine that is very busy the service may answer 503: a reader then sends the same once more, as the guides say. */
async function repeating(expected: string, run: () => Promise<Ran>): Promise<Ran> {
  const isOutage = (text: string): boolean => text.includes('"status":503');
  let ran = await run();
  for (let left = mostRepeats; left > 0 && isOutage(ran.printed) && !isOutage(expected); left -= 1) {
    await pause(repeatAfterMs);
    ran = await run();
  }
  return ran;
}

function expectExit({ code, printed }: Ran, expected: number): void {
  expect(code, `the exit code; what it printed:\n${printed}`).to.equal(expected);
}

async function startBlock({ language, text }: Block, reader: Reader, awaited: string): Promise<Running> {
  const [step, ...more] = language === "console" ? readSteps(text) : [{ command: text, expected: "…" }];
  if (step === undefined || more.length > 0) throw new Error("What goes on by itself is one command");
  const running = await reader.session.start(reader.minding.httpErrors + reader.toRun(step.command));
  try {
    await eventually(async () => {
      const printed = await running.printed();
      // The whole of it in the message: it is what tells why the text is not there.
      if (!printed.includes(awaited)) throw new Error(`"${awaited}" is not in what it printed:\n${printed}`);
    }, patienceMs);
    await eventually(async () =>
      expectPrinted(reader.toShow(await running.printed()), step.expected, reader.hasSameDigests),
    );
    return running;
  } catch (failure) {
    await running.interrupt();
    throw failure;
  }
}

async function runProgram(
  { line, text }: Block,
  { folder, session, toRun }: Reader,
  by: "node" | "tsx",
): Promise<void> {
  const file = by === "node" ? `line-${line}.mjs` : `line-${line}.ts`;
  await writeFile(join(folder, file), toRun(text));
  expectExit(await session.run(`${by === "node" ? "node" : "npx tsx"} ${file}`, { isStrict: true }), 0);
}

async function runStatements({ text }: Block, reader: Reader): Promise<void> {
  const connection = await mysql.createConnection({ uri: await databaseOf(reader), multipleStatements: true });
  try {
    await connection.query(text);
  } finally {
    await connection.end();
  }
}
