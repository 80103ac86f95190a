import { expect } from "chai";
import { isSecret, newSecret, rotated, signatureHeaders, validAt } from "../../src/signed-post/secret.ts";
import { now } from "../support/examples.ts";

const inHours = (hours: number): string => new Date(Date.parse(now) + hours * 3_600_000).toISOString();

describe("what signs a webhook", () => {
  it("signs as the example in the text of Standard Webhooks", () => {
    const secrets = [{ text: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", validUntil: null }];
    const at = new Date(1_614_265_330_000).toISOString();
    const body = new TextEncoder().encode('{"test": 2432232314}');
    expect(signatureHeaders({ id: "msg_p5jXN8AQM9LWM0D4loKWxJek", at, body }, secrets)).to.deep.equal({
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    });
  });

  it("is whsec_ and base64, never the same twice", () => {
    const { text } = newSecret();
    expect(isSecret(text)).to.equal(true);
    expect(newSecret().text).not.to.equal(text);
    for (const other of [
      "",
      "whsec_",
      "whsec_c2hvcnQ=",
      "whsec_not base64",
      text.slice(6),
      `${text}${"A".repeat(88)}`,
    ]) {
      expect(isSecret(other), other).to.equal(false);
    }
  });

  it("signs beside its successor for a day, both in one header", () => {
    const first = newSecret();
    const both = rotated([first], now);
    expect(validAt(both, inHours(23))).to.have.lengthOf(2);
    expect(validAt(both, inHours(24))).to.deep.equal([both[0]]);
    const headers = signatureHeaders({ id: "1", at: inHours(1), body: new Uint8Array() }, both);
    expect(headers["webhook-signature"]).to.match(/^v1,\S+ v1,\S+$/);
  });

  it("is kept no longer for being replaced again", () => {
    const [third, second, first] = rotated(rotated([newSecret()], now), inHours(12));
    expect([third?.validUntil, second?.validUntil, first?.validUntil]).to.deep.equal([null, inHours(36), inHours(24)]);
    expect(rotated([newSecret(), { text: "whsec_old", validUntil: now }], now)).to.have.lengthOf(2);
  });
});
