import { expect } from "chai";
import { encodeContent } from "../../src/content/encode-content.ts";
import { placesOf } from "../../src/erasure/erase-address.ts";
import { exampleJobContent } from "../support/read-side.ts";

const contentFor = (...emails: readonly string[]) =>
  encodeContent({ ...exampleJobContent, recipients: emails.map((email) => ({ email })) });

describe("an address in the content of a job", () => {
  const spellings = ["Ada@büro.example", "ada@xn--bro-hoa.example", "ada@bu\u0308ro.example", "ADA@BÜRO.example"];

  it("is found in each of its spellings", () => {
    const content = contentFor("bob@büro.example", ...spellings, "ada@buro.example");
    for (const address of spellings) expect(placesOf(content, address), address).to.deep.equal([1, 2, 3, 4]);
  });

  it("is found as a URL, in any case, and no other URL is", () => {
    const urls = ["https://example.com/ü/@ada/1", "https://example.com/ü/@ada/2"];
    expect(placesOf(contentFor(...urls), "HTTPS://example.com/Ü/@ada/1")).to.deep.equal([0]);
  });
});
