import { expect } from "chai";
import { NatsError } from "nats";
import { isOutOfRoom } from "../../src/nats/errors.ts";

describe("The errors of JetStream", () => {
  const failureWith = (err_code: number): NatsError => {
    const failure = new NatsError("refused", "503");
    failure.api_error = { code: 503, err_code, description: "refused" };
    return failure;
  };

  it("say that there is no room, whether in the stream, for the account or on the server", () => {
    const limits = { account: 10002, server: 10023, disk: 10047, stream: 10077 };
    for (const [limit, code] of Object.entries(limits)) expect(isOutOfRoom(failureWith(code)), limit).to.equal(true);
    expect(isOutOfRoom(failureWith(10059))).to.equal(false);
  });
});
