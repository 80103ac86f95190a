import { expect } from "chai";
import { createSlowJobs } from "../../../src/job-kinds/email/slow-jobs.ts";
import type { JobRoutes } from "../../../src/mail/routes/job-routes.ts";
import { settings } from "../../support/examples.ts";

describe("Mailings of a thousand recipients, whose routes let ten mails a second through", () => {
  const routes = {
    key: () => "slow",
    connections: () => 10,
    perSecond: (): number | null => 10,
    haveOthers: () => true,
  } as JobRoutes;
  const shop = (jobId: string) => ({ tenant: "shop", jobId });
  const bakery = { tenant: "bakery", jobId: "one" };
  const mailing = { ...settings, total: 1000 };
  let slowJobs: ReturnType<typeof createSlowJobs>;

  beforeEach(() => {
    slowJobs = createSlowJobs(2);
  });

  it("are done two at a time of each tenant and priority", () => {
    const end = slowJobs.enter(shop("one"), mailing, routes)?.();
    expect(slowJobs.enter(shop("two"), mailing, routes)).not.to.equal(null);
    expect(slowJobs.enter(shop("three"), mailing, routes)).to.equal(null);
    expect(slowJobs.enter(bakery, mailing, routes)).not.to.equal(null);
    expect(slowJobs.enter(shop("urgent"), { ...mailing, priority: "high" }, routes)).not.to.equal(null);
    expect(slowJobs.hasToWait(shop("three"), mailing)).to.equal(true);
    expect(slowJobs.hasToWait(shop("three"), { priority: "high" }), "after its priority was changed").to.equal(false);
    expect(slowJobs.hasToWait(shop("four"), mailing), "before its routes are known").to.equal(false);
    end?.();
    end?.();
    expect(slowJobs.hasToWait(shop("three"), mailing)).to.equal(false);
    expect(slowJobs.enter(shop("three"), mailing, routes)).not.to.equal(null);
    expect(slowJobs.enter(shop("four"), mailing, routes)).to.equal(null);
  });

  it("are not held back where that is of use to no one, nor those that are done in a moment", () => {
    const begins = (given: Partial<JobRoutes>, total = 1000) => {
      const all = ["one", "two", "three"].map((jobId) =>
        slowJobs.enter(shop(jobId), { ...mailing, total }, { ...routes, ...given }),
      );
      expect(all).not.to.include(null);
    };
    begins({ haveOthers: () => false });
    begins({ perSecond: () => null });
    begins({ perSecond: () => 100 });
    begins({}, 300);
    begins({ perSecond: () => 0.1 }, 10);
  });
});
