import { expect } from "chai";
import { fromHistory, toHistoryRecord } from "../../../projections/recipients/history.ts";
import {
  connectionLost,
  greylisted,
  now,
  recipientDeferred,
  recipientSent,
  recipientSuppressed,
  recipientUnknown,
} from "../../support/examples.ts";

describe("the history of a recipient, as its row keeps it", () => {
  it("is read as it was written, record behind record", () => {
    const history =
      toHistoryRecord(7, recipientDeferred(), true) +
      toHistoryRecord(8, recipientUnknown({ attempt: 2 }), false) +
      toHistoryRecord(9, recipientSuppressed(), true) +
      toHistoryRecord(10, recipientSent({ response: "", run: 2 }), true);
    const frame = { run: 1, attempt: 1, at: now, counts: true, messageId: null, response: null, error: null };
    const [putOff, unknown, suppressed, sent] = fromHistory(history);
    const { message } = greylisted;
    const deferred = { status: "deferred", response: message, error: { code: "deferred", message } };
    expect(putOff).to.deep.equal({ ...frame, sequence: 7, ...deferred });
    const error = { code: connectionLost.code, message: connectionLost.message };
    expect(unknown).to.deep.equal({ ...frame, sequence: 8, attempt: 2, status: "unknown", counts: false, error });
    expect(suppressed).to.deep.include({ sequence: 9, status: "suppressed", messageId: null, response: null });
    const { messageId } = recipientSent().data;
    expect(sent).to.deep.equal({ ...frame, sequence: 10, run: 2, status: "sent", messageId, response: "" });
  });

  it("is none at first", () => {
    expect(fromHistory("")).to.deep.equal([]);
  });

  it("keeps its form whatever a mail server answers", () => {
    const response = "250 \x1e\x1f \" ' \\ \n 250 ok 🎉";
    const [sent, ...rest] = fromHistory(toHistoryRecord(1, recipientSent({ response }), true));
    expect(rest).to.deep.equal([]);
    expect(sent?.response).to.equal("250    \" ' \\ \n 250 ok 🎉");
  });
});
