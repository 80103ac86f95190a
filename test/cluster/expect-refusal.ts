import { expect } from "chai";
import { setStage } from "../support/stage.ts";
import { launchWaybill } from "../support/waybill.ts";

/** Where NATS cannot keep several copies, the service does not start with them, and says why. */
export async function expectRefusal(replicas: number): Promise<void> {
  const { surroundings, cleanUp } = await setStage();
  try {
    const launched = launchWaybill(surroundings, "api", { STREAM_REPLICAS: String(replicas), LOG_LEVEL: "info" });
    expect(await launched.exitCode(), launched.output()).to.equal(1);
    expect(launched.output()).to.include(`STREAM_REPLICAS is ${replicas}`);
  } finally {
    await cleanUp();
  }
}
