import { expect } from "chai";
import { isTenantName } from "../../src/domain/tenant.ts";
import { alertsRef } from "../../src/event-log/event-log.ts";
import { createJetStreamAnnouncements } from "../../src/event-log/following/jetstream-announcements.ts";
import {
  channelOf,
  contentSubjectOf,
  parseSubject,
  streamFilter,
  streamName,
  subjectOf,
  subjectsOfDecisions,
} from "../../src/event-log/subjects.ts";
import type { JetStreamConnection } from "../../src/nats/connection.ts";
import { nameWith } from "../../src/nats/names.ts";
import { createJetStreamLeaseProbe } from "../../src/workers/jetstream-lease-probe.ts";
import { createJetStreamMembership } from "../../src/workers/jetstream-membership.ts";
import { jobCreated, recipientSent } from "../support/examples.ts";

const job = { tenant: "acme", jobId: "0193a5e0-6c1d" };

describe("the subjects of a job", () => {
  it("keep its decisions, its facts and its content apart", () => {
    expect(subjectOf("", job, "job")).to.equal("jobs.acme.0193a5e0-6c1d");
    expect(subjectOf("", job, "facts")).to.equal("jobs.acme.0193a5e0-6c1d.facts");
    expect(contentSubjectOf("", job)).to.equal("content.acme.0193a5e0-6c1d");
  });

  it("of alerts is one, under a name that no tenant can have", () => {
    expect(subjectOf("", alertsRef, "alert")).to.equal("jobs._service.alerts.alert");
    expect(parseSubject("", "jobs._service.alerts.alert")).to.deep.equal({ ...alertsRef, channel: "alert" });
    expect(isTenantName(alertsRef.tenant)).to.equal(false);
  });

  it("begin with the prefix of a Waybill that shares its NATS", () => {
    expect(subjectOf("blue", job, "job")).to.equal("blue.jobs.acme.0193a5e0-6c1d");
    expect(contentSubjectOf("blue", job)).to.equal("blue.content.acme.0193a5e0-6c1d");
    expect(subjectsOfDecisions("blue")).to.equal("blue.jobs.*.*");
  });

  it("belong into streams that bear the prefix too", () => {
    expect([streamName("", "JOBS"), streamFilter("", "JOBS")]).to.deep.equal(["JOBS", "jobs.>"]);
    expect([streamName("blue", "CONTENT"), streamFilter("blue", "CONTENT")]).to.deep.equal([
      "blue_CONTENT",
      "blue.content.>",
    ]);
  });

  it("are none where the prefix could be more than one token, whatever they are for", () => {
    const connection = {} as JetStreamConnection;
    for (const prefix of ["a.b", "a b", "*", ">", "a\n"]) {
      expect(() => streamName(prefix, "JOBS"), prefix).to.throw("The prefix is");
      expect(() => streamFilter(prefix, "JOBS"), prefix).to.throw("The prefix is");
      expect(() => parseSubject(prefix, `${prefix}.jobs.acme.1.job`), prefix).to.throw("The prefix is");
      expect(() => nameWith(prefix, "ACCESS"), prefix).to.throw("The prefix is");
      expect(() => createJetStreamAnnouncements(connection, prefix), prefix).to.throw("The prefix is");
      expect(() => createJetStreamLeaseProbe(connection, prefix), prefix).to.throw("The prefix is");
      expect(() => createJetStreamMembership(connection, prefix), prefix).to.throw("The prefix is");
    }
  });

  it("name the job and the channel", () => {
    for (const channel of ["job", "facts"] as const) {
      expect(parseSubject("", subjectOf("", job, channel))).to.deep.equal({ ...job, channel });
      expect(parseSubject("blue", subjectOf("blue", job, channel))).to.deep.equal({ ...job, channel });
    }
  });

  it("may be of a channel that only a newer release knows", () => {
    expect(parseSubject("", "jobs.acme.0193a5e0-6c1d.rumours")).to.deep.equal({ ...job, channel: null });
  });
});

describe("a subject that is none of this log", () => {
  const foreign = ["content.acme.1", "jobs.acme", "orders.acme.1", "blue.jobs.acme.1", ""];
  for (const subject of foreign) {
    it(`is refused: ${JSON.stringify(subject)}`, () => {
      expect(() => parseSubject("", subject)).to.throw("is not a subject of the log");
    });
  }

  it("is refused where the prefix is another one", () => {
    expect(() => parseSubject("blue", "green.jobs.acme.1.job")).to.throw("expected blue.jobs.");
    expect(() => parseSubject("blue", "jobs.acme.1.job")).to.throw("expected blue.jobs.");
  });
});

describe("a name that would break out of its place in a subject", () => {
  for (const name of ["", "a.b", "*", ">", "a b", "ä", "a\r\nb", "a/b"]) {
    it(`is refused as tenant, as job id and as prefix: ${JSON.stringify(name)}`, () => {
      expect(() => subjectOf("", { ...job, tenant: name }, "job")).to.throw("The tenant is");
      expect(() => contentSubjectOf("", { ...job, jobId: name })).to.throw("The job id is");
      if (name !== "") expect(() => streamName(name, "JOBS")).to.throw("The prefix is");
    });
  }
});

describe("an event", () => {
  it("belongs to the channel of what it is about", () => {
    expect(channelOf(jobCreated())).to.equal("job");
    expect(channelOf(recipientSent())).to.equal("facts");
  });
});
