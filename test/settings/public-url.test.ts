import { expect } from "chai";
import { readConfig } from "../../src/settings/config.ts";

const publicUrlOf = (value: string) => readConfig({ PUBLIC_URL: value }).publicUrl;

describe("the address at which people reach the service", () => {
  it("is null if it is not set, and has no slash at its end", () => {
    expect(readConfig({}).publicUrl).to.equal(null);
    expect(publicUrlOf("https://mail.example.com/")).to.equal("https://mail.example.com");
    expect(publicUrlOf("https://example.com/waybill/")).to.equal("https://example.com/waybill");
  });

  it("may do without TLS on this machine only", () => {
    expect(publicUrlOf("http://127.0.0.1:3000")).to.equal("http://127.0.0.1:3000");
    expect(publicUrlOf("http://[::1]:3000")).to.equal("http://[::1]:3000");
    expect(() => publicUrlOf("http://mail.example.com")).to.throw(/PUBLIC_URL is "http:\/\/mail.*expected https/s);
  });

  it("is no address where something else is in it", () => {
    const wrong = ["mail.example.com", "ftp://example.com", "https://u:p@example.com", "https://example.com/?a=1"];
    for (const value of [
      ...wrong,
      `https://example.com/${"x".repeat(200)}`,
      `https://example.com/${"ü".repeat(150)}`,
    ]) {
      expect(() => publicUrlOf(value), value).to.throw(/PUBLIC_URL/);
    }
  });
});
