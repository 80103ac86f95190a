import { expect } from "chai";
import { NotUtf8, textOf } from "../../src/schemas/line-file.ts";

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

  it("names its last line where that ends within a character", async () => {
    const torn = Buffer.from(`${lines}😀`).subarray(0, -1);
    for (const size of sizes) expect(await read(torn, size), String(size)).to.equal(4);
  });
});
