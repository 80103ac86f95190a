import { expect } from "chai";
import { type Checked, checkRows } from "../../../projections/rebuilding/check-rows.ts";
import { waitingProjector } from "../../../projections/waiting/projector.ts";
import { createWaitingList } from "../../../projections/waiting/waiting-list.ts";
import { jobCreated } from "../../support/examples.ts";
import { newJob } from "../../support/happen.ts";
import { openReadSide, type ReadSide } from "../../support/read-side.ts";

const longAgo = "2001-01-01T00:00:00.000Z";

describe("a turn that was put and that no worker has begun", () => {
  let side: ReadSide;
  beforeEach(async () => {
    side = await openReadSide();
    side.startProjector(waitingProjector);
    await side.happens(newJob(), jobCreated({ scheduledAt: longAgo }));
    await side.caughtUp("waiting");
    expect(await createWaitingList(side.db).takeDue(10, async () => {})).to.equal(1);
  });
  afterEach(() => side.cleanUp());

  const differences = async () => {
    const checked: Checked[] = [];
    await checkRows([waitingProjector], { ...side.rebuildSetup(), onChecked: (one) => checked.push(one) });
    return checked.flatMap((one) => one.differences);
  };

  it("is no difference between the rows and the log", async () => {
    expect(await differences()).to.deep.equal([]);
  });

  it("hides no other difference of its row", async () => {
    await side.db("waiting").update({ attempt: 3 });
    const [difference, ...others] = await differences();
    expect(others).to.deep.equal([]);
    expect(difference?.columns).to.deep.equal({ attempt: { live: 3, log: 1 } });
  });
});
