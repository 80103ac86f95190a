export type Colour = "red" | "yellow" | "green" | "cyan" | "dim" | "bold";

/** Gives text a colour, or returns it as it is where colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string;

const codes: Readonly<Record<Colour, readonly [on: number, off: number]>> = {
  red: [31, 39],
  yellow: [33, 39],
  green: [32, 39],
  cyan: [36, 39],
  dim: [2, 22],
  bold: [1, 22],
};

export const paintFor = (hasColours: boolean): Paint =>
  hasColours ? (colour, text) => `\x1b[${codes[colour][0]}m${text}\x1b[${codes[colour][1]}m` : (_, text) => text;

type Entry = Readonly<Record<string, unknown>>;

const colourOf: Readonly<Record<string, Colour>> = { fatal: "red", error: "red", warn: "yellow", info: "green" };

/** They tell processes and traces apart, which a terminal does not have to. */
const leftOut = new Set(["level", "time", "msg", "process", "traceId", "method", "path", "route", "status", "ms"]);

/**
 * An entry of the log as one line for people: `12:00:01.123 INFO  GET /api/jobs/0193… 200 3 ms  requestId=…`. Below debug
 * level an error is its message; with `withStack` its stack follows on lines of its own.
 */
export function toTerminalLine(json: string, paint: Paint, withStack = false): string {
  const entry: Entry = JSON.parse(json);
  const level = String(entry["level"]);
  const time = toClock(new Date(String(entry["time"])));
  const fields = Object.entries(entry).flatMap(([name, value]) => toField(entry, name, value, paint));
  const head = `${paint("dim", time)} ${paint(colourOf[level] ?? "dim", level.toUpperCase().padEnd(5))}`;
  const line = `${[`${head} ${messageOf(entry)}`, ...fields].join("  ")}\n`;
  return withStack ? `${line}${stackOf(entry)}` : line;
}

const toClock = (at: Date): string => {
  const two = (value: number): string => String(value).padStart(2, "0");
  const ms = String(at.getMilliseconds()).padStart(3, "0");
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${ms}`;
};

/** The usual entries say what they are about in place of a constant message. */
function messageOf({ msg, event, method, path, route, status, ms }: Entry): string {
  if (msg === "recorded" && typeof event === "string") return event;
  if (msg !== "request" || typeof method !== "string") return printable(String(msg).replace(/\s+/g, " "));
  return printable(`${method} ${path ?? route} ${status} ${ms} ms`);
}

function toField(entry: Entry, name: string, value: unknown, paint: Paint): readonly string[] {
  const isSaid = name === "event" && entry["msg"] === "recorded";
  // What a request is said to be, another entry has as fields.
  const isOfRequest = entry["msg"] === "request" || !["method", "path", "route", "status", "ms"].includes(name);
  if (value === null || value === undefined || isSaid || (leftOut.has(name) && isOfRequest)) return [];
  const isError = name === "err" || name === "failure";
  const text = isError ? paint("red", toText(wordsOf(value))) : toText(value);
  return [`${paint("dim", `${isError ? "error" : name}=`)}${text}`];
}

/** The message and the code of an error, and those of its causes. */
function wordsOf(failure: unknown): string {
  const { message, code, cause, name, type } = (failure ?? {}) as Readonly<Record<string, unknown>>;
  const own = [message, code].filter((part) => typeof part === "string" && part !== "");
  const words = own.length > 0 ? own.join(", ") : String(name ?? type ?? "unknown");
  return typeof cause === "object" && cause !== null ? `${words}: ${wordsOf(cause)}` : words;
}

/** Quoted unless it is a single word. */
const toText = (value: unknown): string =>
  printable(typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value));

function stackOf({ err, failure }: Entry): string {
  const { stack, frames } = (err ?? failure ?? {}) as { readonly stack?: unknown; readonly frames?: unknown };
  const lines = typeof stack === "string" ? stack.split("\n").slice(1) : Array.isArray(frames) ? frames : [];
  return lines.map((line) => `    ${printable(String(line)).trim()}\n`).join("");
}

/** Text from others must not control the terminal. */
export const printable = (text: string): string => text.replace(/\p{Cc}/gu, "\u{FFFD}");
