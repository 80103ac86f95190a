import { Type } from "typebox";
import { allJobKinds } from "../job-kinds/all-job-kinds.ts";
import { fieldsOf, type RequestForm, someRecipients } from "../schemas/request-form.ts";
import { closed } from "../schemas/request-schema.ts";

/** The body of POST /jobs in one schema. It is checked piece by piece instead (see request-form.ts), by the same pieces. */
export const jobCreation = Type.Union(allJobKinds.map((form, index) => formSchema(form, index === 0)));

/** The first kind is the usual one, which need not be named. */
function formSchema(form: RequestForm, isUsual: boolean) {
  const { recipients: _, ...fields } = fieldsOf(form);
  const type = Type.Literal(form.type);
  const title = `${form.type.replace(/(?:^|\.)(.)/g, (_, letter: string) => letter.toUpperCase())}Request`;
  return Type.Object(
    {
      ...fields,
      type: isUsual ? Type.Optional(type) : type,
      ...(form.recipients === null
        ? {}
        : { recipients: Type.Array(Type.Union([form.recipients.text, form.recipients.object]), someRecipients) }),
    },
    { ...closed, title },
  );
}
