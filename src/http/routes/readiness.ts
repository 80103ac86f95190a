import { shown } from "../../schemas/fault.ts";
import type { AnswerOf } from "../answers/parts.ts";
import { senderReadiness } from "../answers/sender-readiness.ts";
import { json, refuseFaults } from "../server/answer.ts";
import { type Route, route } from "../server/route.ts";
import type { RouteDependencies } from "./route-dependencies.ts";

/** The same as `waybill doctor --domain`, by the settings of the process that answers. */
export const readinessRoute = ({ examineSender, now }: Pick<RouteDependencies, "examineSender" | "now">): Route =>
  route({
    method: "GET",
    path: "/admin/readiness/:domain",
    describes: {
      operation: "readSenderReadiness",
      summary: "Whether receivers will accept mails from this domain: what DNS and the mail server say now.",
      answers: { 200: { is: "The findings, each with what to do. Nothing is sent.", json: senderReadiness } },
    },
    scope: "admin",
    handle: async ({ part }) => {
      const domain = part("domain").toLowerCase();
      if (!domainName.test(domain)) {
        const message = `the domain in the path is ${shown(domain)}; expected the domain of a sender: example.org`;
        return refuseFaults([{ pointer: "domain", message }]);
      }
      const findings = await examineSender(domain);
      const isReady = findings.every(({ level }) => level !== "serious");
      // The examination of a domain has no other parts.
      const shownFindings = findings as AnswerOf<typeof senderReadiness>["findings"];
      return json({ domain, at: now(), isReady, findings: shownFindings } satisfies AnswerOf<typeof senderReadiness>);
    },
  });

const domainName = /^(?!-)[^\s@:/]{1,253}\.[^\s@:/]{2,63}$/;
