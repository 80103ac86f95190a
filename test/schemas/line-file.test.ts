import { expect } from "chai";
import { linesOf, NotUtf8, textOf } from "../../src/schemas/line-file.ts";

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** The text of a file that comes in pieces of this size, or the line that is not UTF-8. */
async function read(bytes: Buffer, size: number): Promise<string | number> {
  let text = "";
  try {
    for await (const piece of textOf(inPieces(bytes, size))) text += piece;
    return text;
  } catch (failure) {
    if (failure instanceof NotUtf8) return failure.line;
    throw failure;
  }
}

describe("A file of lines", () => {
  const lines = ["ada@example.com", "Müller€😀", "", "bob@example.com"].join("\n");
  const sizes = [1, 2, 3, 4, 5, 7, 16, 1000];

  it("has its text in pieces of any size, without the byte order mark", async () => {
    for (const size of sizes) expect(await read(Buffer.from(`\ufeff${lines}`), size), String(size)).to.equal(lines);
  });

  it("names the line that is not UTF-8", async () => {
    const latin1 = Buffer.concat([Buffer.from(`${lines}\n`), Buffer.from("M\xfcller\n", "latin1"), Buffer.from(lines)]);
    for (const size of sizes) expect(await read(latin1, size), String(size)).to.equal(5);
  });

  it("has the same lines in pieces of any size, also where one is too long", async () => {
    const file = Buffer.from(["one", "x".repeat(70_000), "two", `${"y".repeat(65_536)}`, ""].join("\n"));
    const seen = new Map<number, unknown>();
    for (const size of [1000, 65_536, 65_600, 1_000_000]) {
      const found: unknown[] = [];
      for await (const line of linesOf(textOf(inPieces(file, size)))) {
        found.push("fault" in line ? [line.number, line.fault] : [line.number, line.read.length]);
      }
      seen.set(size, found);
    }
    const expected = [
      [1, 3],
      [2, "is longer than 65536 characters"],
      [3, 3],
      [4, 65_536],
    ];
    for (const [size, found] of seen) expect(found, String(size)).to.deep.equal(expected);
  });

  it("names its last line where that ends within a character", async () => {
    const torn = Buffer.from(`${lines}😀`).subarray(0, -1);
    for (const size of sizes) expect(await read(torn, size), String(size)).to.equal(4);
  });
});
