import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { body, subject } from "./the-mail.ts";

type Api = { readonly url: string };

/** What a file of so many lines holds: one in a hundred is faulty, one in twenty repeats an address. */
export type FileShape = { readonly lines: number; readonly faulty: number; readonly duplicates: number };

export const shapeOf = (lines: number): FileShape => ({ lines, faulty: lines / 100, duplicates: lines / 20 });

export const validIn = ({ lines, faulty, duplicates }: FileShape): number => lines - faulty - duplicates;

const linesPerChunk = 2000;

/** CSV, made while it is sent. */
async function* fileOf(lines: number): AsyncGenerator<Uint8Array> {
  yield Buffer.from("email\n");
  for (let first = 0; first < lines; first += linesPerChunk) {
    let chunk = "";
    for (let line = first; line < Math.min(lines, first + linesPerChunk); line += 1) chunk += `${lineOf(line)}\n`;
    yield Buffer.from(chunk);
  }
}

function lineOf(line: number): string {
  if (line % 100 === 7) return `nobody-${line}@`;
  if (line % 20 === 11) return `READER-${line - 3}@example.com`;
  return `reader-${line}@example.com`;
}

export async function draftMailing(api: Api): Promise<string> {
  return (await ask<{ readonly mailingId: string }>(api, "POST", "", { subject, body })).mailingId;
}

/** Answers how many seconds it took; throws where the counts are others than those of the file. */
export async function importFile({ url }: Api, mailingId: string, shape: FileShape): Promise<number> {
  const startedAt = performance.now();
  const init = { method: "PUT", headers: { "Content-Type": "text/csv" }, body: fileOf(shape.lines), duplex: "half" };
  const answer = await fetch(`${url}/api/mailings/${mailingId}/recipients`, init as unknown as RequestInit);
  const text = await answer.text();
  const seconds = (performance.now() - startedAt) / 1000;
  const { added, faulty, duplicates } = JSON.parse(text) as FileShape & { readonly added: number };
  const isWhole = added === validIn(shape) && faulty === shape.faulty && duplicates === shape.duplicates;
  if (answer.status !== 200 || !isWhole) throw new Error(`The import was answered ${answer.status}: ${text}`);
  return seconds;
}

/** Asked again where the log did not answer in time, as the answer advises and clients do: the time for it counts. */
export async function decide(api: Api, mailingId: string, action: "start" | "cancel"): Promise<void> {
  for (let left = 20; ; left -= 1) {
    try {
      await ask(api, "POST", `/${mailingId}/${action}`, {});
      return;
    } catch (failure) {
      if (left === 0 || !String(failure).includes("event-log-unavailable")) throw failure;
      process.stderr.write(`    ${String(failure).slice(0, 200)}\n`);
      await pause(250);
    }
  }
}

export async function sentSoFar(api: Api, mailingId: string): Promise<number> {
  const { progress } = await ask<{ readonly progress: { readonly sent: number } }>(api, "GET", `/${mailingId}`);
  return progress.sent;
}

async function ask<Body>({ url }: Api, method: string, path: string, request?: object): Promise<Body> {
  const answer = await fetch(`${url}/api/mailings${path}`, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(request && { body: JSON.stringify(request) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`);
  return JSON.parse(text) as Body;
}
