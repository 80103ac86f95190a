import { Type } from "typebox";
import { instant, named, orNull, text } from "./parts.ts";

const finding = named("ReadinessFinding", {
  part: Type.Enum(["spf", "dkim", "dmarc", "mx", "ptr", "tls", "link", "bulk"]),
  level: Type.Enum(["fine", "warning", "serious"]),
  what: text,
  advice: orNull(text),
});

export const senderReadiness = named("SenderReadiness", {
  domain: text,
  at: instant,
  isReady: Type.Boolean({ description: "Whether no finding is serious." }),
  findings: Type.Array(finding),
});
