import { Type } from "typebox";
import { checkRequest } from "../../schemas/request-schema.ts";
import { classify } from "./classify.ts";
import { nothing, type Reading, toDiagnostic } from "./report.ts";

const text = Type.String();
const check = checkRequest(
  Type.Object({
    RecordType: text,
    Type: Type.Optional(text),
    Description: Type.Optional(text),
    Details: Type.Optional(text),
    MessageID: Type.Optional(text),
    Metadata: Type.Optional(Type.Record(text, text)),
    Headers: Type.Optional(Type.Array(Type.Object({ Name: text, Value: text }))),
  }),
);

/** The types that Postmark gives bounces. */
const kinds: ReadonlyMap<string, "hard" | "soft" | "unknown"> = new Map([
  ["HardBounce", "hard"],
  ["BadEmailAddress", "hard"],
  ["ManuallyDeactivated", "hard"],
  ["Transient", "soft"],
  ["SoftBounce", "soft"],
  ["DnsError", "soft"],
  ["AddressChange", "unknown"],
  ["Blocked", "unknown"],
  ["SpamNotification", "unknown"],
  ["VirusNotification", "unknown"],
  ["DMARCPolicy", "unknown"],
  ["SMTPApiError", "unknown"],
  ["InboundError", "unknown"],
  ["TemplateRenderingFailed", "unknown"],
  ["Unknown", "unknown"],
]);

/** The webhooks of Postmark for bounces and spam complaints. The token is in the metadata of the mail. */
export function readPostmark(body: unknown): readonly Reading[] | null {
  const checked = check(body);
  if (!checked.valid) return null;
  const {
    RecordType,
    Type: type = "",
    Description = "",
    Details = "",
    MessageID,
    Metadata = {},
    Headers = [],
  } = checked.value;
  const ofHeaders = Headers.filter(({ Name }) => /^(?:message-id|return-path)$/i.test(Name)).map(({ Value }) => Value);
  const names = [...Object.values(Metadata), ...ofHeaders, MessageID].filter((name) => name !== undefined);
  if (RecordType === "SpamComplaint" || type === "SpamComplaint") {
    return [
      { kind: "report", report: { source: "postmark", feedback: { kind: "complaint", complaint: "abuse" }, names } },
    ];
  }
  if (RecordType !== "Bounce") return [nothing("delivered")];
  if (type === "AutoResponder" || type === "ChallengeVerification") return [nothing("auto-reply")];
  if (type === "Subscribe" || type === "Unsubscribe" || type === "OpenRelayTest") return [nothing("not-a-report")];
  const told = classify({ status: null, text: toDiagnostic(Details === "" ? Description : Details) });
  const feedback = { ...told, bounce: kinds.get(type) ?? told.bounce };
  return [{ kind: "report", report: { source: "postmark", feedback, names } }];
}
