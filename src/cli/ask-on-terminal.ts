import { createInterface } from "node:readline";

type Terminal = { readonly input: NodeJS.ReadableStream; readonly output: NodeJS.WritableStream };

/** One line from a person; empty where the input ends, or the command is interrupted, before there is one. */
export const askOnTerminal = (terminal: Terminal, question: string, interrupted: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    // The terminal itself edits the line, and makes a signal of Ctrl-C, which the command hears of.
    const lines = createInterface({ ...terminal, terminal: false, signal: interrupted });
    lines.once("close", () => resolve(""));
    lines.question(question, (answer) => {
      resolve(answer);
      lines.close();
    });
  });
