import { expect } from "chai";
import { type AllowedNetworks, readNetworks, whyNotToCall } from "../../src/signed-post/addresses.ts";

const loopback: AllowedNetworks = readNetworks("127.0.0.0/8").filter((network) => network !== null);

describe("the URL of a webhook", () => {
  for (const url of ["https://hooks.example.com/in?token=abc", "https://example.com:8443/", "https://93.184.215.14/"]) {
    it(`may be ${url}`, () => {
      expect(whyNotToCall(url, [])).to.equal(null);
    });
  }

  for (const [url, expected] of [
    ["hooks.example.com", /a URL of at most 2048/],
    [`https://example.com/${"x".repeat(2048)}`, /a URL of at most 2048/],
    ["http://hooks.example.com/", /https/],
    ["ftp://hooks.example.com/", /https/],
    ["file:///etc/passwd", /https/],
    ["https://ada:secret@hooks.example.com/", /without a user or a password/],
    ["https://hooks.example.com:25/", /port/],
    ["https://localhost:3000/", /public internet/],
    ["https://api.localhost/", /public internet/],
    ["https://127.1:8080/", /public internet/],
    ["https://[::ffff:10.0.0.1]/", /public internet/],
  ] as const) {
    it(`is not ${url.slice(0, 60)}`, () => {
      expect(whyNotToCall(url, [])).to.match(expected);
    });
  }

  it("is refused with the setting that would allow it, where it is of this machine or network", () => {
    for (const url of ["http://127.0.0.1:8000/hook", "http://localhost:8000/hook", "https://10.0.0.1/"]) {
      expect(whyNotToCall(url, [])).to.match(/, or of a network that the setting WEBHOOK_ALLOW names$/);
    }
    expect(whyNotToCall("http://hooks.example.com/", [])).to.equal("a URL with https");
  });

  it("may be a private one, also without TLS, where that is allowed", () => {
    expect(whyNotToCall("http://127.0.0.1:8080/", loopback)).to.equal(null);
    expect(whyNotToCall("http://localhost:8080/", loopback)).to.equal(null);
    expect(whyNotToCall("http://10.0.0.1:8080/", loopback)).to.match(/public internet/);
  });
});
