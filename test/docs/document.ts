/**
 * Documentation that is executed. One test file for each document:
 *
 *     import { describeDocument } from "./document.ts";
 *
 *     describeDocument("ops/guides/operator.md", { env: { WEBHOOK_ALLOW: "127.0.0.0/8" } });
 *
 * makes a test of every fenced block, in order, as a reader pastes them into one bash: variables, functions and the folder stay from
 * block to block; a Node program sees what was exported. The folder looks like a checkout (links to the real one), so write
 * into its top only. `waybill`, `npm ci` and `npm start` are on the PATH. A Waybill as `npm start` starts it runs from the first
 * block on, unless `startsItself` leaves that to the document. Every port after `127.0.0.1:`, `localhost:`, `PORT=`,
 * `-p `, `--port `, `port: ` or `listen(` is replaced by a free one, and put back in what is printed. There are no log lines. curl fails on 4xx
 * and 5xx, except in `console`.
 *
 * | block       | what happens                                                                               |
 * | ----------- | ------------------------------------------------------------------------------------------ |
 * | `sh`        | runs with `set -e` and has to exit with 0                                                   |
 * | `console`   | lines after `$ ` are run, one after the other; the rest has to be printed. Times, keys, ids |
 * |             | and digests may differ, but no id of version 8, which is made of what was asked for, and no |
 * |             | digest where `hasSameDigests` says so; `…` stands for anything; lines may be folded after   |
 * |             | commas                                                                                     |
 * | `json`      | has to be JSON                                                                              |
 * | `text`, none| nothing                                                                                     |
 *
 * Other languages need one of these comments on the line before the block, and `sh` and `console` may have one:
 *
 *     <!-- run: node -->  <!-- run: tsx -->   as a module, with the session's folder and environment
 *     <!-- run: mysql -->                     as statements to Waybill's database
 *     <!-- run: save as NAME -->              into a file of the folder
 *     <!-- run: eventually -->                again and again until what is printed is right (`console`) or it exits with 0
 *     <!-- run: exits 1 -->                   that is how its last command has to end
 *     <!-- run: until "TEXT" -->              goes on by itself; Ctrl-C once TEXT was printed
 *     <!-- run: beside "TEXT" -->             stays running to the end; the next block begins once TEXT was printed
 *     <!-- run: instead "TEXT" -->            the same, after Ctrl-C to what ran beside until now, Waybill included
 *     <!-- run: in FILE -->                   another test runs it, one that has what the block needs
 *     <!-- not run: REASON -->                some words; at most `atMostNotRun` in a document
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { type Block, readBlocks } from "./blocks.ts";
import { becomeReader, type Reader } from "./reader.ts";
import { runBlock } from "./run-block.ts";
import type { Running } from "./session.ts";

export type DocumentOptions = {
  /** Of the reader's shell, and so of everything that is started in it. */
  readonly env?: Readonly<Record<string, string>>;
  /** The document itself says how Waybill is started. */
  readonly startsItself?: boolean;
  /** 2 where nothing is said. */
  readonly atMostNotRun?: number;
  /** Digests in what is printed are made of what the document's own commands say, and so have to be the same. */
  readonly hasSameDigests?: boolean;
};

/** A block may start a whole system, or wait for one. */
const blockMs = 240_000;

export function describeDocument(path: string, options: DocumentOptions = {}): void {
  const text = readFile(path);
  const blocks = readBlocks(text);

  describe(`a reader who follows ${path}`, function () {
    this.timeout(blockMs);
    let reader: Reader;
    let failedAt: string | null = null;
    const beside: Running[] = [];

    before(async () => {
      reader = await becomeReader(text, options.env ?? {}, options.hasSameDigests ?? false);
      if (!options.startsItself) await runBlock(start, reader, beside);
    });
    after(async () => {
      for (const running of beside.reverse()) await running.interrupt();
      await reader?.leave();
    });

    it("is told why where a block is not run, and that is seldom", () => {
      const reasons = blocks.flatMap(({ directive }) => (directive?.kind === "not-run" ? [directive.reason] : []));
      for (const reason of reasons) expect(reason.split(" ").length, reason).to.be.greaterThan(4);
      expect(reasons, "blocks that are not run").to.have.length.of.at.most(options.atMostNotRun ?? 2);
    });

    it("follows blocks that another test runs only where that test reads the document", () => {
      const files = blocks.flatMap(({ directive }) => (directive?.kind === "elsewhere" ? [directive.file] : []));
      for (const file of new Set(files)) expect(readFile(file), file).to.include(path);
    });

    for (const block of blocks) {
      if (block.directive?.kind === "not-run" || block.directive?.kind === "elsewhere") continue;
      const place = `${path}:${block.line}`;
      it(`can do what ${place} says: ${titleOf(block)}`, async () => {
        if (failedAt !== null) throw new Error(`Not run, because ${failedAt} failed before it`);
        failedAt = place;
        await runBlock(block, reader, beside).catch(async (failure: Error) => {
          // The reason may be in what an earlier block has done.
          failure.message += `\nPrinted from the first block on:\n${await reader.session.printed()}`;
          throw failure;
        });
        failedAt = null;
      });
    }
  });
}

const readFile = (path: string): string =>
  readFileSync(fileURLToPath(new URL(`../../${path}`, import.meta.url)), "utf8");

const start: Block = {
  language: "sh",
  line: 0,
  text: "npm start\n",
  directive: { kind: "beside", text: "Ctrl-C stops everything." },
};

const titleOf = ({ text }: Block): string => (text.split("\n")[0] ?? "").replace(/^\$ /, "").slice(0, 60);
